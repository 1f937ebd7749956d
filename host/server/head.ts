import { escapeHtml } from '@liaozhai/releases';
import type { ShareCard } from './prerendered.ts';

const appName = '聊斋';
const about: ShareCard = {
  title: appName,
  description: '互动故事与聊天：在聊斋里读一个故事，再走进去，和里面的人说说话。',
  image: '/icon-512.png',
};

/** Programs that draw link cards read no SVG. */
const drawable = (image: string) => (/\.svg(\?|$)/.test(image) ? about.image : image);

/**
 * The document's title, and the tags by which search engines and chat apps show a link to it.
 * `address` is the page's own, which the card's image counts from.
 */
export function headOf(address: string, routeTitle: string | undefined, card: ShareCard | null) {
  const subject = card?.title ?? routeTitle;
  const { title, description, image } = card ?? { ...about, title: subject ?? appName };
  const { origin, pathname } = new URL(address);
  const tag = (attribute: 'name' | 'property', key: string, value: string) =>
    `<meta ${attribute}="${key}" content="${escapeHtml(value)}">`;
  const meta = [
    tag('name', 'description', description),
    tag('property', 'og:site_name', appName),
    tag('property', 'og:type', card ? 'article' : 'website'),
    tag('property', 'og:title', title),
    tag('property', 'og:description', description),
    tag('property', 'og:url', `${origin}${pathname}`),
    tag('property', 'og:image', new URL(drawable(image), origin).href),
  ];
  return { title: subject ? `${subject} · ${appName}` : appName, meta: meta.join('\n') };
}
