import { createHash } from 'node:crypto';
import type { Story } from '../stories.ts';
import type { Content } from './content.ts';
import type { Picture } from './pictures.ts';

/** The cover that the content folder holds for a story; undefined where it has none, or one of another place. */
export function coverOf({ pictures }: Content, { coverUrl }: Pick<Story, 'coverUrl'>): Picture | undefined {
  return pictures.get(coverUrl.replace(/^\/api\/media\//, '').replace(/\?.*$/, ''));
}

/** Address of a story's bitmap; null where its cover is a picture of another place, which may be one already. */
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
