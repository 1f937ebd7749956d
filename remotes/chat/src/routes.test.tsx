import { oddBodies, oddRows, openRemote, programmersWords, screen, waitFor } from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { conversationDto, latestDto, messageDto, messageEvent, storyDto } from './fixtures';
import { asked, LATEST, openChat } from './pages/chatting';
import remote from './remote';

test('聊过 stands whatever a conversation has in a field', async () => {
  const rows = [conversationDto({ id: 'c-good' }), ...oddRows({ ...conversationDto() })];
  openRemote(remote, { 'GET /v1/conversations': { data: rows } }, { path: '/conversations', user: { id: 'u-1' } });
  expect((await screen.findAllByRole('link', { name: /聂小倩/ })).length).toBeGreaterThan(1);
  expect(programmersWords()).toEqual([]);
});

describe('a chat stands whatever a message has in a field', () => {
  const odd = oddBodies({ ...messageDto({ seq: 2, body: '她站了许久。' }) }, ['id', 'body', 'seq']);
  // a place of its own, which cannot be read
  odd.push(
    ...['', 'x', null, {}, -1, 1e30].map((seq) => ({ ...messageDto({ id: 'm-odd', body: '她站了许久。' }), seq })),
  );
  test.each(odd)('%j', async (message) => {
    openChat({ [LATEST]: latestDto([asked, message as never]) });
    expect(await screen.findByText('谁在门外？')).toBeTruthy();
    expect(await screen.findByText(/她站了许久/)).toBeTruthy();
    expect(programmersWords()).toEqual([]);
  });
});

test('a chat stands whatever its story and its events have in a field', async () => {
  const { live } = openChat({
    [LATEST]: latestDto([asked]),
    'GET /v1/stories/s-1': { ...storyDto(), characters: [null, 7, {}], author: 'x' },
  });
  expect(await screen.findByText('谁在门外？')).toBeTruthy();
  for (const body of oddBodies({ ...messageEvent(messageDto({ seq: 2 })) }, [])) live.push('message.created', body);
  for (const body of oddBodies({ ...messageDto({ seq: 2 }) }, [])) live.push('message.completed', { message: body });
  for (const body of oddBodies({ id: 'u-1', balance: 5, name: '甲', version: 2 })) {
    live.push('user.updated', { user: body });
    live.push('balance.updated', body);
  }
  await waitFor(() => expect(screen.getByText('谁在门外？')).toBeTruthy());
  expect(programmersWords()).toEqual([]);
});
