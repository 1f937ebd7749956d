import { inSentence } from '@liaozhai/shared/format';

/** Everything this remote says, grouped by page. */
export const texts = {
  list: {
    title: '发现',
    wordmark: '聊斋',
    motto: '一灯一卷，与故事里的人说说话',
    label: '故事',
    lead: '开卷第一则',
    loading: '正在加载故事',
    empty: '书架还空着，过一会儿再来看看',
    refresh: '刷新',
    end: '故事都在这里了',
    resume: '继续读',
    fresh: (count: number) => `${count} 个新故事`,
    renewed: '有新的故事，看看',
  },
  search: {
    open: '搜索故事',
    placeholder: '书名、人物、标签',
    cancel: '取消',
    sort: '排序',
    newest: '最新',
    hottest: '最热',
    tags: '标签',
    loading: '正在搜索',
    found: (count: number, isMore: boolean) => `找到 ${count} 个${isMore ? '以上的' : ''}故事`,
    none: (words: string, tag: string) => {
      const where = tag && `标签「${tag}」里`;
      return words ? `${where}没有找到「${words}」` : `${where || '这里'}还没有故事`;
    },
    all: '看看全部故事',
    end: '找到的都在这里了',
    lost: '搜索暂时打不开',
  },
  story: {
    title: '故事',
    loading: '正在加载故事',
    by: (author: string) => `${inSentence(author)} 述`,
    tags: '标签',
    tag: (tag: string) => `标签「${inSentence(tag)}」的故事`,
    summary: '简介',
    characters: '人物',
    opening: '开篇',
    openingLines: '可以这样开口',
    start: '开始聊天',
    resume: '继续聊天',
    price: (points: number) => (points === 0 ? '聊天不收费' : `每条消息 ${points.toLocaleString('zh-CN')} 点`),
    balance: (points: number) => `余额 ${points.toLocaleString('zh-CN')} 点`,
    share: '分享',
    shareText: (title: string) => `在聊斋读《${inSentence(title)}》，还能和故事里的人说话`,
    copied: '链接已复制',
    shareFailed: '没能分享，请复制地址栏里的链接',
    gone: '这个故事不在了，也许已经下架',
    toExplore: '去看看别的故事',
  },
} as const;
