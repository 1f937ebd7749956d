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
import { App } from '../App';
import { rootOptions } from '../rootOptions';

interface HostOptions {
  path?: string;
  /** what the browser's entry holds already */
  state?: unknown;
  handlers?: Handlers;
  /** whether somebody is signed in */
  member?: boolean;
}

/** Opens the whole host at a path, with network and socket faked at the edge. */
export async function openHost({ path = '/explore', state = null, handlers = {}, member = false }: HostOptions = {}) {
  const network = fakeApi({ 'GET /v1/user': { data: memberDto() }, ...handlers });
  const socket = fakeRealtime();
  onTestEnd(network.restore);
  onTestEnd(socket.restore);
  if (member) session.userReceived(memberDto());
  history.replaceState(state, '', path);
  const rendered = await act(async () => render(<App />, rootOptions));
  return { ...rendered, requests: network.requests, user: userEvent.setup() };
}
