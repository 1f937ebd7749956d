import { requestLogin } from '@liaozhai/shared/runtime';
import { type Handlers, memberDto, onTestEnd, screen, waitFor } from '@liaozhai/shared/testing';
import { beforeAll, beforeEach, expect } from '@rstest/core';
import { serveBuild } from './fakeRemotes';
import { openHost } from './openHost';

const pageWithHeading = (text: string) => async () => ({ default: () => <h1>{text}</h1> });

beforeAll(() => {
  serveBuild('stories', { explore: pageWithHeading('书架') });
  serveBuild('account', { my: pageWithHeading('我的书房'), profile: pageWithHeading('改名换姓') });
});

interface FakeClipboard {
  copied: string[];
  /** When it accepts text: Chrome whenever the page is focused, Safari only within a tap. */
  accepts: 'always' | 'within a tap' | 'never' | 'without an answer';
  /** Whether it accepts promises, which Firefox before 127 does not. */
  promises: boolean;
}

export const clipboard: FakeClipboard = { copied: [], accepts: 'always', promises: true };

beforeEach(() => {
  Object.assign(clipboard, { copied: [], accepts: 'always', promises: true } satisfies FakeClipboard);
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
  const requireAccess = () => {
    if (clipboard.accepts === 'without an answer') return new Promise(() => undefined);
    if (clipboard.accepts === 'always' || (clipboard.accepts === 'within a tap' && isTapped)) return undefined;
    throw new DOMException('refused', 'NotAllowedError');
  };
  const writeText = async (text: string) => {
    await requireAccess();
    clipboard.copied.push(text);
  };
  const write = async (items: ClipboardItem[]) => {
    await requireAccess();
    for (const item of items) clipboard.copied.push(await (await item.getType('text/plain')).text());
  };
  const value = clipboard.promises ? { writeText, write } : { writeText };
  Object.defineProperty(navigator, 'clipboard', { value, configurable: true });
}

export const input = (name: string) => document.querySelector<HTMLInputElement>(`dialog[open] input[name="${name}"]`);
export const inputValue = (name: string) => input(name)?.value ?? null;
export const openDialogs = () => document.querySelectorAll('dialog[open]').length;
const toasts = () => screen.getByRole('region', { name: '提示' }).textContent ?? '';
export const expectToast = (text: string) => waitFor(() => expect(toasts()).toContain(text));
export const hasToast = (text: string) => toasts().includes(text);
export const reply = (status: number, body: object, headers = {}) => ({ status, body, headers });
export const registrationResponse = (type = 'username') => reply(201, { user: memberDto(), type });

export async function openPopup(handlers: Handlers = {}, mode: 'register' | 'login' = 'register') {
  const host = await openHost({ handlers });
  const loginResult = requestLogin(mode);
  await screen.findByRole('dialog');
  return { ...host, loginResult };
}

/** Registers with the generated values. */
export async function register(handlers: Handlers) {
  const host = await openPopup(handlers);
  placeClipboard();
  const typedValues = { login: inputValue('login'), password: inputValue('password'), name: inputValue('name') };
  await host.user.click(screen.getByRole('button', { name: '注册（请截图保存）' }));
  return { ...host, typedValues };
}

export async function login(handlers: Handlers) {
  const host = await openPopup(handlers, 'login');
  await host.user.type(screen.getByLabelText('用户名'), 'fox');
  await host.user.type(screen.getByLabelText('密码'), '123456');
  await host.user.click(screen.getByRole('button', { name: '登录' }));
  return host;
}
