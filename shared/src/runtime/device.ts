import { useSyncExternalStore } from 'react';
import { attempt, listenTo } from '../format/browser';
import { hasNetwork } from '../format/errorText';
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
  const isCopied = attempt(() => document.execCommand('copy')) ?? false;
  area.remove();
  if (focusedElement instanceof HTMLElement) focusedElement.focus({ preventScroll: true });
  return isCopied;
}

/** A permission prompt may stay open, and some in-app browsers never answer. */
const CLIPBOARD_TIMEOUT_MS = 2_000;

/** Returns false if the clipboard refuses, is missing, or does not answer in time once `text` is there. Throws if `text` rejects. */
async function isWritten(write: () => Promise<void>, text?: Promise<string>): Promise<boolean> {
  const answer = (async () => write())().then(
    () => true,
    () => false,
  );
  await text;
  return Promise.race([answer, new Promise<false>((resolve) => setTimeout(resolve, CLIPBOARD_TIMEOUT_MS, false))]);
}

const copyNow = async (text: string): Promise<boolean> =>
  (await isWritten(() => navigator.clipboard.writeText(text))) || copyBySelection(text);

async function copyWhenLoaded(text: Promise<string>): Promise<boolean> {
  // a blob, because the first Chrome versions with this API accepted no plain strings
  const content = text.then((loadedText) => new Blob([loadedText], { type: 'text/plain' }));
  content.catch(() => undefined);
  const write = () => navigator.clipboard.write([new ClipboardItem({ 'text/plain': content })]);
  try {
    return (await isWritten(write, text)) || copyNow(await text);
  } catch {
    return false;
  }
}

/**
 * Copies to the clipboard. Pass a text that is still loading as a promise within the tap: Safari refuses a later call, Firefox
 * one after 5 s. Returns false if the browser refuses or the promise rejects.
 */
export const copyText = (text: string | Promise<string>): Promise<boolean> =>
  typeof text === 'string' ? copyNow(text) : copyWhenLoaded(text);

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
