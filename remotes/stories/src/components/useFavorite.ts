import { toast, useCapability } from '@liaozhai/shared/runtime';
import { type MouseEvent, useState } from 'react';
import type { Story } from '../model';
import { texts } from '../texts';

/** Returns a story's saved state and its toggle; null if the server does not support favourites. The API code loads on first use. */
export function useFavorite(story: Story | undefined) {
  const isSupported = useCapability('stories.favorites');
  const [isSaving, setSaving] = useState(false);
  // a story from a list or the device is not changed by the answer
  const [change, setChange] = useState<{ of: Story; isSaved: boolean }>();
  if (!isSupported || !story) return null;
  const { id, isFavorite = false } = story;
  const isSaved = change?.of === story ? change.isSaved : isFavorite;
  const toggle = ({ detail }: MouseEvent) => {
    // the second click of a double tap must not undo the first
    if (isSaving || detail > 1) return;
    setSaving(true);
    void import(/* webpackChunkName: "favorite" */ '../api/favorites')
      .then(
        async ({ setFavorite }) => {
          if (await setFavorite(id, !isSaved)) setChange({ of: story, isSaved: !isSaved });
        },
        () => toast(texts.favorites.failed, { kind: 'error' }),
      )
      .finally(() => setSaving(false));
  };
  return { isSaved, label: isSaved ? texts.favorites.remove : texts.favorites.add, toggle };
}
