import { createHash } from 'node:crypto';
import type { Story } from '../stories.ts';
import type { Content } from './content.ts';
import type { Picture } from './pictures.ts';

/** Returns a story's cover from the content folder; undefined without one and for an external cover. */
export function coverOf({ pictures }: Content, { coverUrl }: Pick<Story, 'coverUrl'>): Picture | undefined {
  return pictures.get(coverUrl.replace(/^\/api\/media\//, '').replace(/\?.*$/, ''));
}

/** Returns the URL of a story's bitmap for links; null for an external cover, which may be a bitmap itself. */
export function shareImageUrl(content: Content, { id, title, coverUrl }: Story): string | null {
  const cover = coverOf(content, { coverUrl });
  if (coverUrl && !cover) return null;
  const version = createHash('sha256')
    .update(`${title}\n`)
    .update(cover ?? '')
    .digest('hex')
    .slice(0, 8);
  return `/api/media/share/${encodeURIComponent(id)}.png?v=${version}`;
}
