import { store } from '@liaozhai/shared/runtime';
import { fireEvent, offline, type RecordedRequest, screen, waitFor } from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { deltaDto, latestDto, messageDto, messageEvent } from '../fixtures';
import { asked, bodyOf, field, LATEST, openChat, SEND, secondSentDto, sends, told, write } from './chatting';

const running = messageDto({ seq: 2, version: 2, body: '月色', status: 'streaming', cost: 2 });
const stopped = messageDto({ seq: 2, version: 3, body: '月色正好', status: 'cancelled', cost: 2 });
const STOP = 'POST /v1/messages/m-2/cancel';
const stopButton = () => screen.findByRole('button', { name: '停止' });
const asksOf = (requests: RecordedRequest[], call: string) =>
  requests.filter(({ method, url }) => `${method} ${url}` === call);
const said = () => store.getState().toasts.map(({ text }) => text);

describe('停止', () => {
  const capabilities = ['messages.cancel'] as const;

  test('stands where 发送 does while a reply is being written, keeps its text and leads on', async () => {
    const { user, live, requests } = openChat(
      { [LATEST]: latestDto([asked, running]), [STOP]: { message: stopped, balance: 98 } },
      { capabilities },
    );
    const stop = await stopButton();
    expect(screen.queryByRole('button', { name: '发送' })).toBeNull();
    live.push('message.delta', deltaDto({ offset: 2, text: '正' }));
    await user.click(stop);
    expect(await screen.findByText('已停止')).toBeTruthy();
    expect(screen.getByText('月色正好')).toBeTruthy();
    expect(await screen.findByText('回复已停止')).toBeTruthy();
    expect(screen.getByRole('button', { name: '发送' })).toBeTruthy();
    expect(screen.queryByRole('button', { name: '停止' })).toBeNull();
    expect(asksOf(requests, STOP).map(({ body }) => body)).toEqual([{ revision: 1 }]);
    expect(screen.getByText('已停止').querySelector('button')?.textContent).toBe('继续');
  });

  test('leaves a line that is being typed its way: it waits, and goes once the reply has been stopped', async () => {
    const { user, requests } = openChat(
      {
        [LATEST]: latestDto([asked, running]),
        [STOP]: { message: stopped, balance: 98 },
        [SEND]: secondSentDto,
      },
      { capabilities },
    );
    await stopButton();
    await write(user, '后来呢？');
    await screen.findByText('等这一段写完就发出');
    expect(sends(requests)).toHaveLength(0);
    await user.click(await stopButton());
    await waitFor(() => expect(sends(requests).map((request) => bodyOf(request).body)).toEqual(['后来呢？']));
  });

  test('is asked for once, however often it is tapped', async () => {
    const { user, requests } = openChat(
      { [LATEST]: latestDto([asked, running]), [STOP]: () => new Promise(() => {}) },
      { capabilities },
    );
    await user.click(await stopButton());
    await waitFor(() =>
      expect(screen.getByRole('button', { name: '停止' }).getAttribute('aria-disabled')).toBe('true'),
    );
    await user.click(await stopButton());
    expect(asksOf(requests, STOP)).toHaveLength(1);
  });

  test('does not take the second half of a double tap on 发送', async () => {
    const { requests } = openChat({ [LATEST]: latestDto([asked, running]), [STOP]: stopped }, { capabilities });
    fireEvent.click(await stopButton(), { detail: 2 });
    expect(asksOf(requests, STOP)).toHaveLength(0);
  });

  test('says that it did not work without a network, and works once there is one', async () => {
    let isUp = false;
    const { user } = openChat(
      {
        [LATEST]: () => {
          if (!isUp && screen.queryByRole('button', { name: '停止' })) throw offline();
          return latestDto([asked, running]);
        },
        [STOP]: () => {
          if (!isUp) throw offline();
          return { message: stopped, balance: 98 };
        },
      },
      { capabilities },
    );
    await user.click(await stopButton());
    await waitFor(() => expect(said()).toHaveLength(1));
    isUp = true;
    await user.click(await stopButton());
    expect(await screen.findByText('已停止')).toBeTruthy();
  });

  test('says nothing where the reply has ended meanwhile', async () => {
    let isDone = false;
    const { user } = openChat(
      {
        [LATEST]: () => latestDto([asked, isDone ? { ...told, version: 3 } : running]),
        [STOP]: () => {
          isDone = true;
          throw offline();
        },
      },
      { capabilities },
    );
    await user.click(await stopButton());
    expect(await screen.findByText(told.body ?? '')).toBeTruthy();
    expect(said()).toEqual([]);
  });

  test('shows on every device', async () => {
    const { live } = openChat({ [LATEST]: latestDto([asked, running]) }, { capabilities });
    await stopButton();
    live.push('message.completed', messageEvent(stopped));
    expect(await screen.findByText('已停止')).toBeTruthy();
    expect(screen.getByText('月色正好')).toBeTruthy();
  });

  test('before the first word leaves a reply that is bought as a whole', async () => {
    const { user, requests } = openChat(
      {
        [LATEST]: latestDto([asked, { ...stopped, body: '', cost: 0 }]),
        'POST /v1/messages/continue': { status: 202, body: { message: { ...running, version: 4 }, balance: 98 } },
      },
      { capabilities, user: { balance: 1 } },
    );
    const state = await screen.findByText('已停止');
    await user.click(state.querySelector('button') ?? state);
    // one message costs 2 points
    expect(await screen.findByRole('dialog', { name: '点数不够' })).toBeTruthy();
    expect(asksOf(requests, 'POST /v1/messages/continue')).toHaveLength(0);
  });

  test('is not offered where the server cannot stop a reply', async () => {
    openChat({ [LATEST]: latestDto([asked, running]) });
    await screen.findByText('月色');
    expect(screen.queryByRole('button', { name: '停止' })).toBeNull();
    expect(screen.getByRole('button', { name: '发送' })).toBeTruthy();
    expect(await field()).toBeTruthy();
  });
});
