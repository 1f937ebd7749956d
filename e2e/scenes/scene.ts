import { expect as base, type Page } from '@playwright/test';

/** Patient enough for a reply to end on a busy machine. */
export const expect = base.configure({ timeout: 25_000 });

/** One screen in one state, and how a person gets it to show. */
export interface Scene {
  /** Names the picture's file. */
  name: string;
  title: string;
  /** Also pictured in a wide window. */
  wide?: true;
  /** From an empty page to the state, and no further: resolves when it is in sight. */
  show(page: Page): Promise<void>;
}

/** Waits until the pictures in sight are there. */
export const pictured = (page: Page) =>
  page.waitForFunction(() =>
    [...document.images].every((image) => {
      const { top, bottom } = image.getBoundingClientRect();
      return !image.checkVisibility() || bottom < 0 || top > innerHeight || image.complete;
    }),
  );

/** An answer in place of the server's. */
export const json = (status: number, body: unknown) => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
});

export const stories = (page: Page) => page.locator('a[href^="/story/"]');
