import { endpoints, wechatSignatureSchema } from '@liaozhai/shared/contract';
import { request } from '@liaozhai/shared/runtime';
import wx from 'weixin-js-sdk';
import type { GuardedHistory } from './navigation';

interface LinkCard {
  title: string;
  desc: string;
  imgUrl: string;
  link: string;
}

const escaped: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const unescaped = (text: string) => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => escaped[name] ?? '');

/** Reads a page's head up to its link-card tags, of which the picture is the last. */
async function headOf(path: string): Promise<string> {
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
async function cardOf(path: string): Promise<LinkCard> {
  const head = await headOf(path);
  const content = (key: string) => unescaped(new RegExp(`"${key}" content="([^"]*)"`).exec(head)?.[1] ?? '');
  return {
    title: content('og:title'),
    desc: content('og:description'),
    imgUrl: content('og:image'),
    link: content('og:url'),
  };
}

const withoutHash = (address: string) => address.replace(/#.*/, '');

/** WeChat on iOS identifies a page by the address it was opened with, on Android by the current one. */
const signedAddress = () => {
  const [entry] = performance.getEntriesByType('navigation');
  return withoutHash(/iP(hone|ad)/.test(navigator.userAgent) && entry ? entry.name : location.href);
};

/**
 * Sets the card of links that are shared from WeChat's menu, since WeChat reads no tags. Loaded only inside WeChat, where the
 * server signs for it. Returns the stop function.
 */
export function shareInWechat(navigation: Pick<GuardedHistory, 'current' | 'subscribe'>): () => void {
  let shown = '';
  let configured = '';

  async function configure() {
    const url = signedAddress();
    if (url === configured) return;
    const signature = await request({
      url: endpoints.wechatSignature,
      params: { url },
      schema: wechatSignatureSchema,
      isOptional: true,
    });
    configured = url;
    wx.config({ ...signature, jsApiList: ['updateAppMessageShareData', 'updateTimelineShareData'] });
  }

  async function follow() {
    const { pathname } = navigation.current().location;
    if (pathname === shown) return;
    shown = pathname;
    try {
      const [card] = await Promise.all([cardOf(pathname), configure()]);
      if (pathname !== shown || !card.title) return;
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
  void follow();
  return navigation.subscribe(() => void follow());
}
