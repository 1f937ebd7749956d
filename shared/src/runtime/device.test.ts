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

const never = () => new Promise<never>(() => {});

const noClipboard = { writeText: () => Promise.reject(new DOMException('no', 'NotAllowedError')) };

afterEach(() => {
  document.body.replaceChildren();
});

describe('copying', () => {
  test('uses the clipboard if there is one', async () => {
    const writeText = rs.fn(() => Promise.resolve());
    give('clipboard', { writeText });
    expect(await copyText('你好')).toBe(true);
    expect(writeText).toHaveBeenCalledWith('你好');
  });

  test('uses a selection otherwise, also in an open dialog, and cleans up', async () => {
    give('clipboard', noClipboard);
    const selected = giveExecCommand(true);
    document.body.innerHTML = '<dialog open></dialog>';
    expect(await copyText('你好')).toBe(true);
    expect(selected).toEqual(['in the dialog']);
    expect(document.querySelector('textarea')).toBeNull();
  });

  test('reports a failure of both', async () => {
    give('clipboard', noClipboard);
    expect(await copyText('你好')).toBe(false);
    giveExecCommand(false);
    expect(await copyText('你好')).toBe(false);
  });
});

describe('a clipboard that never answers', () => {
  test.each([
    ['a text', () => '你好'],
    ['a text that has loaded', async () => '你好'],
  ])('counts as one that refuses: %s', async (_, text) => {
    give('clipboard', { write: never, writeText: never });
    giveExecCommand(true);
    expect(await copyText(text())).toBe(true);
    giveExecCommand(false);
    expect(await copyText(text())).toBe(false);
  });

  test('may take as long as the text takes to load', async () => {
    rs.useFakeTimers();
    onTestEnd(() => void rs.useRealTimers());
    const writeText = rs.fn(() => Promise.resolve());
    give('clipboard', {
      write: async ([item]: ClipboardItem[]) => void (await item?.getType('text/plain')),
      writeText,
    });
    let tell: (text: string) => void = () => undefined;
    const copied = copyText(new Promise<string>((resolve) => (tell = resolve)));
    await rs.advanceTimersByTimeAsync(60_000);
    tell('你好');
    expect(await copied).toBe(true);
    expect(writeText).not.toHaveBeenCalled();
  });
});

describe('copying a text that is still loading', () => {
  const later = async (text: string) => text;

  test('calls the clipboard immediately and passes the text later', async () => {
    const asked: ClipboardItem[] = [];
    give('clipboard', {
      write: async ([item]: ClipboardItem[]) => {
        if (!item) return;
        asked.push(item);
        await item.getType('text/plain');
      },
    });
    let tell: (text: string) => void = () => undefined;
    const copied = copyText(new Promise<string>((resolve) => (tell = resolve)));
    expect(asked).toHaveLength(1);
    tell('你好');
    expect(await copied).toBe(true);
    expect(await (await asked[0]?.getType('text/plain'))?.text()).toBe('你好');
  });

  test.each([
    ['takes no promises', undefined],
    ['refuses them', () => Promise.reject(new DOMException('no', 'NotAllowedError'))],
  ])('a browser that %s gets the text later', async (_, write) => {
    const writeText = rs.fn(() => Promise.resolve());
    give('clipboard', { write, writeText });
    expect(await copyText(later('你好'))).toBe(true);
    expect(writeText).toHaveBeenCalledWith('你好');
    writeText.mockRejectedValue(new DOMException('no', 'NotAllowedError'));
    giveExecCommand(true);
    expect(await copyText(later('你好'))).toBe(true);
    giveExecCommand(false);
    expect(await copyText(later('你好'))).toBe(false);
  });

  test.each([[undefined], [async ([item]: ClipboardItem[]) => void (await item?.getType('text/plain'))]])(
    'copies nothing if loading fails, without an unhandled rejection',
    async (write) => {
      const unheard: unknown[] = [];
      const hear = (cause: unknown) => unheard.push(cause);
      process.on('unhandledRejection', hear);
      onTestEnd(() => process.off('unhandledRejection', hear));
      const writeText = rs.fn(() => Promise.resolve());
      give('clipboard', { write, writeText });
      expect(await copyText(Promise.reject(new Error('the server refused')))).toBe(false);
      await new Promise((resolve) => setTimeout(resolve));
      expect(writeText).not.toHaveBeenCalled();
      expect(unheard).toEqual([]);
    },
  );
});

describe('sharing', () => {
  const content = { title: '聂小倩', text: '来读', url: 'https://liaozhai.example/story/1' };

  test('opens the system’s sheet; closing it is not a failure', async () => {
    give('share', () => Promise.resolve());
    expect(await share(content)).toBe('shared');
    give('share', () => Promise.reject(new DOMException('closed', 'AbortError')));
    expect(await share(content)).toBe('shared');
  });

  test('copies the link if there is no sheet or it fails', async () => {
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

test('the online state follows the browser’s events', () => {
  give('onLine', true);
  const { result } = renderHook(useOnline);
  expect(result.current).toBe(true);
  give('onLine', false);
  act(() => void window.dispatchEvent(new Event('offline')));
  expect(result.current).toBe(false);
});
