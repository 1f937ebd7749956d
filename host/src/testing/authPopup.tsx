import { requestLogin } from '@liaozhai/shared/runtime';
import { type Handlers, memberDto, onTestEnd, screen, waitFor } from '@liaozhai/shared/testing';
import { beforeAll, beforeEach, expect } from '@rstest/core';
import { serveBuild } from './fakeRemotes';
import { openHost } from './openHost';

const named = (text: string) => async () => ({ default: () => <h1>{text}</h1> });

beforeAll(() => {
  serveBuild('stories', { explore: named('书架') });
  serveBuild('account', { my: named('我的书房'), profile: named('改名换姓') });
});

interface FakeClipboard {
  copied: string[];
  /** When it accepts text: Chrome whenever the page is focused, Safari only within a tap. */
  takes: 'always' | 'within a tap' | 'never';
  /** Whether it accepts promises, which Firefox before 127 does not. */
  promises: boolean;
}

export const clipboard: FakeClipboard = { copied: [], takes: 'always', promises: true };

beforeEach(() => {
  Object.assign(clipboard, { copied: [], takes: 'always', promises: true } satisfies FakeClipboard);
  document.execCommand = () => false;
});

/** Replaces the clipboard that user-event has installed. */
function placeClipboard() {
  let isTapped = false;
  const followTap = () => {
    isTapped = true;
    setTimeout(() => {
      isTapped = false;
    });
  };
  window.addEventListener('click', followTap, { capture: true });
  onTestEnd(() => window.removeEventListener('click', followTap, { capture: true }));
  const ask = () => {
    if (clipboard.takes === 'always' || (clipboard.takes === 'within a tap' && isTapped)) return;
    throw new DOMException('refused', 'NotAllowedError');
  };
  const writeText = async (text: string) => {
    ask();
    clipboard.copied.push(text);
  };
  const write = async (items: ClipboardItem[]) => {
    ask();
    for (const item of items) clipboard.copied.push(await (await item.getType('text/plain')).text());
  };
  const value = clipboard.promises ? { writeText, write } : { writeText };
  Object.defineProperty(navigator, 'clipboard', { value, configurable: true });
}

export const input = (name: string) => document.querySelector<HTMLInputElement>(`dialog[open] input[name="${name}"]`);
export const typedInto = (name: string) => input(name)?.value ?? null;
export const openDialogs = () => document.querySelectorAll('dialog[open]').length;
const toasts = () => screen.getByRole('region', { name: '提示' }).textContent ?? '';
export const said = (text: string) => waitFor(() => expect(toasts()).toContain(text));
export const isSaid = (text: string) => toasts().includes(text);
export const refused = (status: number, body: object, headers = {}) => ({ status, body, headers });
export const registered = (type = 'username') => refused(201, { user: memberDto(), type });

export async function openPopup(handlers: Handlers = {}, mode: 'register' | 'login' = 'register') {
  const host = await openHost({ handlers });
  const answer = requestLogin(mode);
  await screen.findByRole('dialog');
  return { ...host, answer };
}

/** Registers with the generated values. */
export async function register(handlers: Handlers) {
  const host = await openPopup(handlers);
  placeClipboard();
  const typed = { login: typedInto('login'), password: typedInto('password'), name: typedInto('name') };
  await host.user.click(screen.getByRole('button', { name: '注册（请截图保存）' }));
  return { ...host, typed };
}

export async function login(handlers: Handlers) {
  const host = await openPopup(handlers, 'login');
  await host.user.type(screen.getByLabelText('用户名'), 'fox');
  await host.user.type(screen.getByLabelText('密码'), '123456');
  await host.user.click(screen.getByRole('button', { name: '登录' }));
  return host;
}
