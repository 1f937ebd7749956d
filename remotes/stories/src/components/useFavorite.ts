import { toast, useCapability } from '@liaozhai/shared/runtime';
import { useState } from 'react';
import type { Story } from '../model';
import { texts } from '../texts';

export interface Favorite {
  isSaved: boolean;
  label: string;
  toggle: () => void;
}

/** Whether the reader saved a story, and how to change it; null where the server keeps none. What changes it comes with the first tap. */
export function useFavorite(story: Story | undefined): Favorite | null {
  const isOffered = useCapability('stories.favorites');
  const [isSaving, setSaving] = useState(false);
  if (!isOffered || !story) return null;
  const { id, isFavorite: isSaved = false } = story;
  const toggle = () => {
    if (isSaving) return;
    setSaving(true);
    void import(/* webpackChunkName: "favorite" */ '../api/favorites')
      .then(
        ({ setFavorite }) => setFavorite(id, !isSaved),
        () => toast(texts.favorites.failed, { kind: 'error' }),
      )
      .finally(() => setSaving(false));
  };
  return { isSaved, label: isSaved ? texts.favorites.remove : texts.favorites.add, toggle };
}
