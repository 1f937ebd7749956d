import { store } from '@liaozhai/shared/runtime';
import { parsePage, storiesApi } from '../api';

/**
 * Starts the feed from the stories the page itself brought (`#liaozhai-first`, the body of `GET /v1/stories`),
 * so that cards drawn by the server never make way for a skeleton. Later loads of the feed ask the server.
 */
export function adoptFirstStories() {
  const element = document.getElementById('liaozhai-first');
  if (!element?.textContent) return;
  const value = { pages: [parsePage(JSON.parse(element.textContent))], pageParams: [null] };
  store.dispatch(storiesApi.util.upsertQueryEntries([{ endpointName: 'storiesGetStories', arg: undefined, value }]));
  element.remove();
}
