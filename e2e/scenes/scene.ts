import { expect as base, type Page } from '@playwright/test';

/** Long enough for a reply to end on a busy machine. */
export const expect = base.configure({ timeout: 25_000 });

/** A screen in one state, and the steps to reach it. */
export interface Scene {
  /** File name of the screenshot. */
  name: string;
  title: string;
  /** Also taken in a wide window. */
  wide?: true;
  /** Navigates from an empty page to the state. Resolves when it is visible. */
  show(page: Page): Promise<void>;
}

/** Waits until the visible images have loaded. */
export const pictured = (page: Page) =>
  page.waitForFunction(() =>
    [...document.images].every((image) => {
      const { top, bottom } = image.getBoundingClientRect();
      return !image.checkVisibility() || bottom < 0 || top > innerHeight || image.complete;
    }),
  );

/** A response that replaces the server's. */
export const json = (status: number, body: unknown) => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
});

export const stories = (page: Page) => page.locator('a[href^="/story/"]');
