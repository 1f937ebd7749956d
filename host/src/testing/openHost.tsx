import { STORAGE_KEYS } from '@liaozhai/shared/contract';
import { session } from '@liaozhai/shared/runtime';
import {
  act,
  fakeApi,
  fakeRealtime,
  type Handlers,
  memberDto,
  onTestEnd,
  render,
  userEvent,
} from '@liaozhai/shared/testing';
import { App, rootOptions } from '../App';
import type { Page } from '../page';
import { openPage } from './fakeRemotes';

interface HostOptions {
  path?: string;
  /** state of the browser's history entry */
  state?: unknown;
  handlers?: Handlers;
  member?: boolean;
  /** whether the browser still has what the page stored */
  keepsStorage?: boolean;
  /** created here unless a test needs its own */
  page?: Page;
}

/** Opens the whole host at a path, with network and socket faked at the edge. */
export async function openHost({
  path = '/explore',
  state = null,
  handlers = {},
  member = false,
  keepsStorage = true,
  ...rest
}: HostOptions = {}) {
  const network = fakeApi({ 'GET /v1/user': { data: memberDto() }, ...handlers });
  const socket = fakeRealtime();
  onTestEnd(network.restore);
  onTestEnd(socket.restore);
  if (member) session.userReceived(memberDto());
  // an earlier request found that nobody is signed in
  else if (keepsStorage) localStorage.setItem(STORAGE_KEYS.guest, '1');
  history.replaceState(state, '', path);
  const page = rest.page ?? openPage();
  const rendered = await act(async () => render(<App page={page} />, rootOptions));
  return { ...rendered, page, requests: network.requests, user: userEvent.setup() };
}
