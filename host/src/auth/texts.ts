import { formatPoints, formatWait, inSentence } from '@liaozhai/shared/format';

export const texts = {
  register: {
    title: '注册',
    gender: '性别',
    refresh: '换一个昵称',
    submit: '注册（请截图保存）',
    toLogin: '已有账号？去登录',
    invited: (code: string) => `受邀注册，邀请码 ${code}`,
    failed: '注册失败',
  },
  invite: {
    title: '好友的邀请',
    from: (name: string) => `「${inSentence(name)}」邀请你一起读故事`,
    rewards: (invitee: string | null, inviter: string | null) => {
      const words = [invitee && `注册后你得 ${invitee} 点`, inviter && `对方得 ${inviter} 点`]
        .filter(Boolean)
        .join('，');
      return words && `${words}。`;
    },
    signUpGift: (points: string) => `另有新人见面礼 ${points} 点。`,
    show: '看邀请',
    accept: '接受邀请，去注册',
    later: '先看看故事',
    unknown: '这个邀请链接已经失效，不过故事照样能看，也随时欢迎你注册',
  },
  gifts: {
    unknown: (points: number) => `邀请的奖励到了，得 ${formatPoints(points)}`,
    invitee: (name: string, points: number) => `你接受了「${inSentence(name)}」的邀请，得 ${formatPoints(points)}`,
    inviter: (name: string, friends: number, points: number) =>
      friends > 1
        ? `「${inSentence(name)}」等 ${friends} 位好友应邀来了，你得 ${formatPoints(points)}`
        : `「${inSentence(name)}」应邀来了，你得 ${formatPoints(points)}`,
  },
  consent: { before: '注册即表示你已阅读并同意', and: '和', terms: '用户协议', privacy: '隐私政策', close: '读完了' },
  login: {
    title: '登录',
    submit: '登录',
    forgot: '忘记密码？',
    toRegister: '没有账号？去注册',
    done: '登录成功',
    failed: '登录失败',
  },
  forgot: { title: '找回密码', unreachable: '暂时打不开，请检查网络后重试' },
  confirmEmail: {
    title: '确认邮箱',
    sentTo: (email: string) => `确认邮件已发到 ${email}，请打开邮件里的链接完成注册。`,
    sent: '请打开确认邮件里的链接完成注册。',
    anywhere: '在别的设备上打开也可以，确认后这里会自动登录。',
    notFound: '没收到？看看垃圾邮件，或者再发一封。',
    resend: '重新发送',
    resendIn: (seconds: number) => `${formatWait(seconds)}后可重新发送`,
    resent: '确认邮件已发送',
    resendFailed: '发送失败',
    resendSignedIn: '登录后重新发送',
    confirmed: (brand: string) => `邮箱已确认，欢迎来到${brand}。`,
    bound: '邮箱已确认。',
    toLogin: '返回登录',
  },
  fields: { name: '昵称', login: '用户名', password: '密码' },
  credentials: {
    copied: '账号密码已复制到剪贴板',
    text: (login: string, password: string) => `用户名：${login}\n密码：${password}`,
    copyFailed: '自动复制失败',
    copyByHand: '请手工复制账号密码',
    copiedByHand: '我已经复制',
  },
  noCookies: '浏览器没有留下本站的 Cookie，无法注册和登录。请允许 Cookie、关掉拦截插件后再试',
  changePassword: { text: '初始密码只有 6 位数字，建议尽快修改', action: '去修改' },
} as const;
