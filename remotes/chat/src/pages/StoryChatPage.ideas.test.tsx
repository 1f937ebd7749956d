import { onTestEnd, screen } from '@liaozhai/shared/testing';
import { expect, test } from '@rstest/core';
import { latestDto } from '../fixtures';
import { asked, LATEST, openChat, told } from './chatting';

const pending = { id: 'i-1', conversation_id: 'c-1', status: 'pending', items: [] };

/** The page as a site serves it that takes 5 points for ideas. */
function priceIdeas() {
  const config = document.createElement('script');
  config.type = 'application/json';
  config.id = 'liaozhai-config';
  config.textContent = JSON.stringify({ rules: { suggestionPrice: 5 } });
  document.body.append(config);
  onTestEnd(() => config.remove());
}

test('ideas take their price at once, and give it back where none came', async () => {
  priceIdeas();
  let isOver = false;
  const { user } = openChat({
    [LATEST]: latestDto([asked, told]),
    'POST /v1/messages/suggestion': { status: 202, body: { data: pending } },
    'GET /v1/messages/suggestion/i-1': () => ({ data: { ...pending, status: isOver ? 'failed' : 'pending' } }),
  });
  await user.click(await screen.findByRole('button', { name: /灵感/ }));
  expect(await screen.findByText('每条 2 点 · 余额 95 点')).toBeTruthy();
  isOver = true;
  expect(await screen.findByText('每条 2 点 · 余额 100 点')).toBeTruthy();
});
