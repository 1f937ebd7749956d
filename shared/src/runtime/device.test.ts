import { afterEach, describe, expect, rs, test } from '@rstest/core';
import { act, onTestEnd, renderHook } from '../testing';
import { copyText, share, useOnline } from './device';

const give = (name: 'clipboard' | 'share' | 'onLine', value: unknown) => {
  Object.defineProperty(navigator, name, { configurable: true, value });
  onTestEnd(() => void Reflect.deleteProperty(navigator, name));
};

const giveExecCommand = (result: boolean) => {
  const selected: string[] = [];
  Object.assign(document, {
    execCommand: () => {
      selected.push(document.activeElement?.closest('dialog') ? 'in the dialog' : 'in the page');
      return result;
    },
  });
  onTestEnd(() => void Reflect.deleteProperty(document, 'execCommand'));
  return selected;
};

const noClipboard = { writeText: () => Promise.reject(new DOMException('no', 'NotAllowedError')) };

afterEach(() => {
  document.body.replaceChildren();
});

describe('copying', () => {
  test('goes by the clipboard where there is one', async () => {
    const writeText = rs.fn(() => Promise.resolve());
    give('clipboard', { writeText });
    expect(await copyText('你好')).toBe(true);
    expect(writeText).toHaveBeenCalledWith('你好');
  });

  test('goes by a selection otherwise, inside an open dialog, and leaves nothing behind', async () => {
    give('clipboard', noClipboard);
    const selected = giveExecCommand(true);
    document.body.innerHTML = '<dialog open></dialog>';
    expect(await copyText('你好')).toBe(true);
    expect(selected).toEqual(['in the dialog']);
    expect(document.querySelector('textarea')).toBeNull();
  });

  test('says so when nothing works', async () => {
    give('clipboard', noClipboard);
    expect(await copyText('你好')).toBe(false);
    giveExecCommand(false);
    expect(await copyText('你好')).toBe(false);
  });
});

describe('sharing', () => {
  const content = { title: '聂小倩', text: '来读', url: 'https://liaozhai.example/story/1' };

  test('opens the system’s sheet; closing it is an answer too', async () => {
    give('share', () => Promise.resolve());
    expect(await share(content)).toBe('shared');
    give('share', () => Promise.reject(new DOMException('closed', 'AbortError')));
    expect(await share(content)).toBe('shared');
  });

  test('copies the link where there is no sheet or it fails', async () => {
    const writeText = rs.fn(() => Promise.resolve());
    give('clipboard', { writeText });
    give('share', undefined);
    expect(await share(content)).toBe('copied');
    give('share', () => Promise.reject(new DOMException('no', 'NotAllowedError')));
    expect(await share(content)).toBe('copied');
    expect(writeText).toHaveBeenCalledWith(content.url);
    give('clipboard', noClipboard);
    expect(await share(content)).toBe('failed');
  });
});

test('being online is followed', () => {
  give('onLine', true);
  const { result } = renderHook(useOnline);
  expect(result.current).toBe(true);
  give('onLine', false);
  act(() => void window.dispatchEvent(new Event('offline')));
  expect(result.current).toBe(false);
});
