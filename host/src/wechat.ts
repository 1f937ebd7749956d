import { endpoints, wechatSignatureSchema } from '@liaozhai/shared/contract';
import { request } from '@liaozhai/shared/runtime';
import wx from 'weixin-js-sdk';
import type { GuardedHistory } from './navigation';

const htmlEntities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const unescapeHtml = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => htmlEntities[name] ?? '');

/** Reads a page's head up to its link-card tags, of which the picture is the last. */
async function fetchHead(path: string): Promise<string> {
  const { body } = await fetch(path, { headers: { accept: 'text/html' } });
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let head = '';
  while (reader && !/"og:image" [^>]*>/.test(head)) {
    const { done, value } = await reader.read();
    if (done) break;
    head += decoder.decode(value, { stream: true });
  }
  void reader?.cancel();
  return head;
}

/** The card of a screen, from the page's Open Graph tags. */
async function fetchCard(path: string) {
  const head = await fetchHead(path);
  const content = (key: string) => unescapeHtml(new RegExp(`"${key}" content="([^"]*)"`).exec(head)?.[1] ?? '');
  return {
    title: content('og:title'),
    desc: content('og:description'),
    imgUrl: content('og:image'),
    link: content('og:url'),
  };
}

/** WeChat on iOS identifies a page by the address it was opened with, on Android by the current one. */
const signedAddress = () => {
  const [entry] = performance.getEntriesByType('navigation');
  const address = /iP(hone|ad)/.test(navigator.userAgent) && entry ? entry.name : location.href;
  return address.replace(/#.*/, '');
};

/**
 * Sets the card of links that are shared from WeChat's menu, since WeChat reads no tags. Loaded only inside WeChat, where the
 * server signs for it. Returns the stop function.
 */
export function shareInWechat(navigation: Pick<GuardedHistory, 'current' | 'subscribe'>): () => void {
  let shownPath = '';
  let configuredUrl = '';

  async function configure() {
    const url = signedAddress();
    if (url === configuredUrl) return;
    const signature = await request({
      url: endpoints.wechatSignature,
      params: { url },
      schema: wechatSignatureSchema,
      isOptional: true,
    });
    configuredUrl = url;
    wx.config({ ...signature, jsApiList: ['updateAppMessageShareData', 'updateTimelineShareData'] });
  }

  async function updateCard() {
    const { pathname } = navigation.current().location;
    if (pathname === shownPath) return;
    shownPath = pathname;
    try {
      const [card] = await Promise.all([fetchCard(pathname), configure()]);
      if (pathname !== shownPath || !card.title) return;
      const success = () => undefined;
      wx.ready(() => {
        wx.updateAppMessageShareData({ ...card, success });
        wx.updateTimelineShareData({ ...card, success });
      });
    } catch (cause) {
      // the next screen retries
      console.info('no card for links in WeChat', cause);
    }
  }

  wx.error((cause) => console.warn('WeChat refused the signature', cause));
  void updateCard();
  return navigation.subscribe(() => void updateCard());
}
