import { useSyncExternalStore } from 'react';
import { hasNetwork } from '../format/errorText';
import { listenTo } from '../format/listening';
import { network } from './client/request';

const subscribe = (handler: () => void) => listenTo(window, ['online', 'offline'], handler);

/** Whether the device has a network and the server answers through it. */
export const { isOnline } = network;

export const useOnline = () => useSyncExternalStore(subscribe, isOnline);

/** Whether the device has a network; updates on `online` and `offline`. */
export const useHasNetwork = () => useSyncExternalStore(subscribe, hasNetwork);

/** Fallback for http pages, where `navigator.clipboard` does not exist. */
function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.readOnly = true;
  // a modal dialog makes everything outside it inert, and inert text cannot be selected
  const container = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
  const focusedElement = document.activeElement;
  container.append(area);
  area.focus({ preventScroll: true });
  area.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    area.remove();
    if (focusedElement instanceof HTMLElement) focusedElement.focus({ preventScroll: true });
  }
}

async function copyNow(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Returns false if the browser does not accept promises, refuses, or the text's promise rejects. */
async function copyWhenLoaded(text: Promise<string>): Promise<boolean> {
  // a blob, because the first Chrome versions with this API accepted no plain strings
  const content = text.then((loadedText) => new Blob([loadedText], { type: 'text/plain' }));
  content.catch(() => undefined);
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': content })]);
    return true;
  } catch {
    return false;
  }
}

/**
 * Copies to the clipboard. Pass a text that is still loading as a promise within the tap: Safari refuses a later call, Firefox
 * one after 5 s. Returns false if the browser refuses or the promise rejects.
 */
export async function copyText(text: string | Promise<string>): Promise<boolean> {
  if (typeof text === 'string') return copyNow(text);
  return (await copyWhenLoaded(text)) || text.then(copyNow, () => false);
}

/** Opens the system's share sheet; where that is missing or fails, copies the link. */
export async function share(data: {
  title: string;
  url: string;
  text?: string;
}): Promise<'shared' | 'copied' | 'failed'> {
  if (navigator.share) {
    try {
      await navigator.share(data);
      return 'shared';
    } catch (cause) {
      // closing the sheet is the user's choice, not a failure
      if (cause instanceof DOMException && cause.name === 'AbortError') return 'shared';
    }
  }
  return (await copyText(data.url)) ? 'copied' : 'failed';
}
