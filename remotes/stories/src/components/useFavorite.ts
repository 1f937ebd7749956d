import { session, toast, useCapability } from '@liaozhai/shared/runtime';
import { BookmarkFilledIcon, BookmarkIcon } from '@liaozhai/shared/ui';
import { type MouseEvent, useState } from 'react';
import type { Story } from '../model';
import { texts } from '../texts';

/** Returns the icon, label and action of a story's bookmark; null if the server does not support favourites. The API code loads on first use. */
export function useFavorite(story: Story | undefined) {
  const isSupported = useCapability('stories.favorites');
  // a story from a list or the device is not changed by the answer
  const [change, setChange] = useState<{ of: Story; isSaved: boolean }>();
  if (!isSupported || !story) return null;
  const { id, isFavorite = false } = story;
  const isSaved = change?.of === story ? change.isSaved : isFavorite;
  const toggle = ({ detail }: MouseEvent) => {
    // the second click of a double tap must not undo the first
    if (detail > 1) return;
    const show = (shown: boolean) => setChange({ of: story, isSaved: shown });
    if (session.current().status === 'member') show(!isSaved);
    void import(/* webpackChunkName: "favorite" */ '../api/favorites').then(
      async ({ setFavorite }) => show(await setFavorite(id, !isSaved)),
      () => {
        show(isSaved);
        toast(texts.favorites.failed, { kind: 'error' });
      },
    );
  };
  return isSaved
    ? { Icon: BookmarkFilledIcon, label: texts.favorites.remove, toggle }
    : { Icon: BookmarkIcon, label: texts.favorites.add, toggle };
}
