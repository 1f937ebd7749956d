import { screen, waitFor } from '@liaozhai/shared/testing';
import { expect, test } from '@rstest/core';
import { deltaDto, latestDto, messageDto, messageEvent } from '../fixtures';
import { openChat } from './openChat';

const asked = messageDto({ seq: 1, role: 'user', body: '谁在门外？', client_id: 'client-1' });

test('a reply that arrives in pieces reads as one', async () => {
  const { live } = openChat({
    'GET /v1/messages/latest': latestDto([asked, messageDto({ seq: 2, body: '', status: 'pending' })]),
  });
  expect(await screen.findByText('排队中')).toBeTruthy();
  live.push('message.delta', deltaDto({ offset: 0, text: '月色' }));
  live.push('message.delta', deltaDto({ offset: 2, text: '正好。' }));
  expect(await screen.findByText('月色正好。')).toBeTruthy();
  live.push('message.completed', messageEvent(messageDto({ seq: 2, version: 3, body: '月色正好。' })));
  await waitFor(() => expect(screen.queryByText('排队中')).toBeNull());
});
