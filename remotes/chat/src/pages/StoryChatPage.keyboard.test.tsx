import { onTestEnd, screen, waitFor } from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import { latestDto } from '../fixtures';
import { field, LATEST, openChat, replyLine, userLine } from '../testing/chatting';

describe('the focus of a keyboard', () => {
  const open = (reply = replyLine) =>
    openChat(
      {
        [LATEST]: latestDto([userLine, reply]),
        'POST /v1/messages/suggestion': () => new Promise(() => {}),
        'POST /v1/messages/continue': () => new Promise(() => {}),
        'POST /v1/messages/m-2/regenerate': () => new Promise(() => {}),
      },
      { capabilities: ['messages.regenerate', 'messages.search'] },
    );

  test.each([/^灵感/, /^继续/])('stays on %s, which a second press does not order again', async (name) => {
    const { user, requests } = open();
    (await screen.findByRole('button', { name })).focus();
    await user.keyboard('{Enter}');
    const chip = () => screen.getByRole<HTMLButtonElement>('button', { name });
    await waitFor(() => expect(chip().getAttribute('aria-disabled')).toBe('true'));
    expect(chip().disabled).toBe(false);
    expect(document.activeElement).toBe(chip());
    await user.keyboard('{Enter}');
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('goes to the field when 换一种说法 has been ordered, which disappears', async () => {
    const { user } = open();
    (await screen.findByRole('button', { name: /^换一种说法/ })).focus();
    await user.keyboard('{Enter}');
    const composer = await field();
    await waitFor(() => expect(document.activeElement).toBe(composer));
  });

  test.each(['failed', 'cancelled'])(
    'goes to the buttons at the composer on a touch screen when 再写一次 has been ordered for a %s reply',
    async (status) => {
      const media = rs.spyOn(window, 'matchMedia').mockReturnValue({ matches: false } as MediaQueryList);
      onTestEnd(() => media.mockRestore());
      const { user } = open({ ...replyLine, body: '', status });
      const again = await screen.findByRole('button', { name: /^再写一次/ });
      again.focus();
      await user.keyboard('{Enter}');
      expect(document.activeElement).toBe(await screen.findByRole('button', { name: /^灵感/ }));
    },
  );

  test('returns to the control that opened 查找', async () => {
    const { user } = open();
    const more = await screen.findByRole('button', { name: '这段对话的更多操作' });
    for (const close of ['{Escape}', '{Tab}{Tab}{Enter}']) {
      more.focus();
      await user.keyboard('{Enter}');
      await user.click(await screen.findByRole('button', { name: '查找' }));
      await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('searchbox')));
      await user.keyboard(close);
      await waitFor(() => expect(screen.queryByRole('searchbox')).toBeNull());
      expect(document.activeElement).toBe(more);
    }
  });
});
