import { reloadBlocks, session, store } from '@liaozhai/shared/runtime';
import { act, openRemote, type RecordedRequest, screen, waitFor } from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { userDto } from '../fixtures';
import remote from '../remote';
import { texts } from '../texts';

const avatars = { 'GET /media/avatars.json': { data: ['/api/media/avatars/fox.svg', '/api/media/avatars/moon.svg'] } };
const open = (handlers = {}) =>
  openRemote(
    remote,
    { 'GET /v1/user': { data: userDto() }, ...avatars, ...handlers },
    { path: '/my/profile', user: userDto() },
  );

const nameField = () => screen.findByRole('textbox', { name: texts.profile.name });
const personaField = () => screen.findByRole('textbox', { name: texts.profile.persona });
const saveButton = () => screen.getByRole('button', { name: texts.profile.save });
const bodiesOf = (requests: { method: string; body: unknown }[]) =>
  requests.filter((request) => request.method === 'PUT').map((request) => request.body);

describe('the profile', () => {
  test('sends what was edited and nothing else, and shows what the server made of it', async () => {
    const { user, requests } = open({
      'PUT /v1/user': { data: userDto({ name: '宁生', version: 2 }) },
    });
    const name = await nameField();
    await user.clear(name);
    await user.type(name, '宁生 ');
    await user.click(saveButton());
    expect(await screen.findByText(texts.profile.saved)).toBeTruthy();
    expect(bodiesOf(requests)).toEqual([{ name: '宁生 ' }]);
    expect(await nameField()).toHaveProperty('value', '宁生');
  });

  test.each([{ status: 204 }, { message: '资料已更新' }])(
    'is saved by a server that says no more than that it is done: %j',
    async (done) => {
      const { user, requests } = open({
        'PUT /v1/user': done,
        'GET /v1/user': () => ({ data: userDto({ name: bodiesOf(requests).length > 0 ? '宁生' : '宁采臣' }) }),
      });
      const name = await nameField();
      await user.clear(name);
      await user.type(name, '宁生');
      await user.click(saveButton());
      expect(await screen.findByText(texts.profile.saved)).toBeTruthy();
      expect(session.current()).toMatchObject({ user: { name: '宁生' } });
      await waitFor(() => expect(requests.at(-1)).toMatchObject({ method: 'GET', url: '/v1/user' }));
      expect(await nameField()).toHaveProperty('value', '宁生');
    },
  );

  test.each([{ id: 'u-1' }, { id: 'u-1', name: '宁生', version: 2 }, { id: '5', name: '别人' }])(
    'keeps what the answer does not say: %j',
    async (part) => {
      const stored = userDto({ minor: { on: true, seconds_left: 1200 } });
      const { user } = openRemote(
        remote,
        { 'PUT /v1/user': { data: part }, ...avatars },
        { path: '/my/profile', user: stored },
      );
      const name = await nameField();
      await user.clear(name);
      await user.type(name, '宁生');
      await user.click(saveButton());
      expect(await screen.findByText(texts.profile.saved)).toBeTruthy();
      expect(await personaField()).toHaveProperty('value', '赶考途中的书生。');
      const kept = { id: 'u-1', name: '宁生', balance: 120, gender: 'male', minor: { seconds_left: 1200 } };
      expect(session.current()).toMatchObject({ user: kept });
      expect(JSON.parse(localStorage.getItem('user-store') ?? '')).toMatchObject({ name: '宁生', balance: 120 });
    },
  );

  test('offers the pictures of the server and takes one', async () => {
    const moon = '/api/media/avatars/moon.svg';
    const { user, requests } = open({ 'PUT /v1/user': { data: userDto({ avatar: moon, version: 2 }) } });
    await user.click(await screen.findByRole('radio', { name: texts.profile.avatarChoice(2) }));
    await user.click(saveButton());
    expect(await screen.findByText(texts.profile.saved)).toBeTruthy();
    expect(bodiesOf(requests)).toEqual([{ avatar: moon }]);
  });

  test('says what the server has against a picture, which has no place for words', async () => {
    const problem = '这张图片不能用';
    const body = { message: 'The given data was invalid.', errors: { avatar: [problem] } };
    const { user } = open({ 'PUT /v1/user': { status: 422, body } });
    await user.click(await screen.findByRole('radio', { name: texts.profile.avatarChoice(2) }));
    await user.click(saveButton());
    await waitFor(() => expect(store.getState().toasts.map((toast) => toast.text)).toContain(problem));
  });

  test('without a list of pictures still shows and saves the rest', async () => {
    open({ 'GET /media/avatars.json': { status: 404, body: { message: 'Not Found' } } });
    expect(await nameField()).toBeTruthy();
    expect(screen.getAllByRole('radio', { name: texts.profile.avatarChoice(1) })).toHaveLength(1);
  });

  test('keeps what was typed across a reload, until it is saved', async () => {
    const first = open();
    await first.user.type(await nameField(), '与聂');
    await first.user.type(await personaField(), '怕黑。');
    // as when an app is killed: the page is unloaded without a question
    window.dispatchEvent(new Event('pagehide'));
    first.unmount();
    const second = open({ 'PUT /v1/user': { data: userDto({ name: '宁采臣与聂', version: 2 }) } });
    expect(await nameField()).toHaveProperty('value', '宁采臣与聂');
    expect(await personaField()).toHaveProperty('value', '赶考途中的书生。怕黑。');
    expect(screen.getByText(texts.profile.unsaved)).toBeTruthy();
    await second.user.click(saveButton());
    await screen.findByText(texts.profile.saved);
    expect(bodiesOf(second.requests)).toEqual([{ name: '宁采臣与聂', persona: '赶考途中的书生。怕黑。' }]);
    window.dispatchEvent(new Event('pagehide'));
    expect(Object.keys(localStorage).filter((key) => key.includes('form:profile'))).toEqual([]);
  });

  test('shows what was typed to nobody else', async () => {
    const first = open();
    await first.user.type(await nameField(), '与聂');
    first.unmount();
    act(() => session.userReceived(userDto({ id: 'u-2', name: '燕赤霞' })));
    openRemote(remote, avatars, { path: '/my/profile', user: userDto({ id: 'u-2', name: '燕赤霞' }) });
    expect(await nameField()).toHaveProperty('value', '燕赤霞');
  });

  test('cannot be saved without a name', async () => {
    const { user, requests } = open();
    await user.clear(await nameField());
    await user.click(saveButton());
    expect(await screen.findByText('请填写昵称')).toBeTruthy();
    expect(bodiesOf(requests)).toEqual([]);
  });

  test('tells what the server refuses at its field, until the field is edited', async () => {
    const refusal = { message: '昵称不合适', errors: { name: ['昵称含有敏感词'] } };
    const { user } = open({ 'PUT /v1/user': { status: 422, body: refusal } });
    const name = await nameField();
    await user.type(name, '鬼');
    await user.click(saveButton());
    expect(await screen.findByText('昵称含有敏感词')).toBeTruthy();
    expect(name.getAttribute('aria-invalid')).toBe('true');
    await user.type(name, '神');
    expect(screen.queryByText('昵称含有敏感词')).toBeNull();
  });

  test('counts the persona as a reader does and keeps an overlong one from being sent', async () => {
    const { user, requests } = open();
    const persona = await personaField();
    await user.clear(persona);
    await user.click(persona);
    await user.paste('🏮'.repeat(1001));
    expect(screen.getByText('1001/1000')).toBeTruthy();
    await user.click(saveButton());
    expect(await screen.findByText(texts.profile.personaTooLong(1000))).toBeTruthy();
    expect(bodiesOf(requests)).toEqual([]);
  });

  test.each([{ name: '' }, { persona: '狐'.repeat(1001) }])(
    'an edit is saved next to a field that the server has and the page would not send',
    async (patch) => {
      const handlers = { 'PUT /v1/user': { status: 204 }, ...avatars };
      const { user, requests } = openRemote(remote, handlers, { path: '/my/profile', user: userDto(patch) });
      await user.click(await screen.findByRole('radio', { name: '女' }));
      await user.click(saveButton());
      await waitFor(() => expect(bodiesOf(requests)).toEqual([{ gender: 'female' }]));
    },
  );

  test('previews the persona as the characters will meet it', async () => {
    const { user } = open();
    await user.click(await screen.findByRole('button', { name: texts.profile.preview }));
    expect(screen.getByRole('figure').textContent).toContain('赶考途中的书生。');
  });
});

describe('unsaved work', () => {
  test('holds back a reload as long as there is any', async () => {
    const { user } = open();
    const name = await nameField();
    expect(reloadBlocks()).toEqual([]);
    await user.type(name, '生');
    expect(reloadBlocks()).toEqual(['profile']);
    await user.type(name, '{Backspace}');
    expect(reloadBlocks()).toEqual([]);
  });

  test('is not left without a question; staying keeps it', async () => {
    const { user } = open();
    await user.type(await nameField(), '生');
    await user.click(screen.getByRole('button', { name: '返回' }));
    await user.click(await screen.findByRole('button', { name: texts.profile.stay }));
    expect(await nameField()).toHaveProperty('value', '宁采臣生');
  });

  test("is given up on the reader's word, and asks no second time", async () => {
    const { user } = open();
    await user.type(await nameField(), '生');
    await user.click(screen.getByRole('button', { name: '返回' }));
    await user.click(await screen.findByRole('button', { name: texts.profile.leave }));
    expect(await screen.findByRole('link', { name: /宁采臣.*查看个人资料/ })).toBeTruthy();
    expect(reloadBlocks()).toEqual([]);
  });

  test('asks nobody who leaves while they are being saved', async () => {
    let save = (_answer: object) => {};
    const { user, requests } = open({
      'PUT /v1/user': () => new Promise<object>((resolve) => (save = resolve)),
    });
    await user.type(await nameField(), '生 ');
    await user.click(screen.getByRole('button', { name: texts.profile.save }));
    await waitFor(() => expect(requests.some(({ method }) => method !== 'GET')).toBe(true));
    await user.click(screen.getByRole('button', { name: '返回' }));
    expect(await screen.findByRole('link', { name: /查看个人资料/ })).toBeTruthy();
    expect(screen.queryByRole('button', { name: texts.profile.leave })).toBeNull();
    await act(async () => save({ data: userDto({ name: '宁采臣生', version: 2 }) }));
    // nothing is left to save, although the server cut the name
    await user.click(screen.getByRole('link', { name: /查看个人资料/ }));
    expect(await nameField()).toHaveProperty('value', '宁采臣生');
    expect(screen.queryByText(texts.profile.unsaved)).toBeNull();
  });

  test('that an other device overtakes keeps the edit and follows the rest', async () => {
    const { user, live } = open();
    await user.type(await nameField(), '生');
    live.push('user.updated', { user: userDto({ persona: '改行行医。', version: 9 }) });
    await waitFor(async () => expect(await personaField()).toHaveProperty('value', '改行行医。'));
    expect(await nameField()).toHaveProperty('value', '宁采臣生');
  });
});

describe('a session that has run out', () => {
  const refusal = { status: 401, body: { message: 'Unauthenticated.' } };

  test('leaves what was typed where it was, and signed in again it can be saved', async () => {
    let hasExpired = true;
    const { user, requests } = open({
      'PUT /v1/user': () => (hasExpired ? refusal : { data: userDto({ name: '宁采臣生', version: 2 }) }),
    });
    await user.type(await nameField(), '生');
    await user.type(screen.getByLabelText(texts.password.current), '123456');
    await user.click(saveButton());
    await waitFor(() => expect(session.current().status).toBe('guest'));
    hasExpired = false;
    act(() => session.userReceived(userDto()));
    expect(await nameField()).toHaveProperty('value', '宁采臣生');
    expect(screen.getByLabelText(texts.password.current)).toHaveProperty('value', '123456');
    await user.click(saveButton());
    expect(await screen.findByText(texts.profile.saved)).toBeTruthy();
    expect(bodiesOf(requests)).toEqual([{ name: '宁采臣生' }, { name: '宁采臣生' }]);
  });
});

describe('the password', () => {
  const fill = async (user: ReturnType<typeof open>['user'], current: string, next: string, again = next) => {
    await user.type(await screen.findByLabelText(texts.password.current), current);
    await user.type(screen.getByLabelText(texts.password.new), next);
    await user.type(screen.getByLabelText(texts.password.confirmation), again);
    await user.click(screen.getByRole('button', { name: texts.password.save }));
  };

  test('is changed, and the fields are empty again', async () => {
    const { user, requests } = open({ 'PUT /v1/user/password': { status: 204 } });
    await fill(user, '123456', 'moon-over-lanruo');
    await waitFor(() => expect(screen.getByLabelText(texts.password.current)).toHaveProperty('value', ''));
    const body = {
      current_password: '123456',
      password: 'moon-over-lanruo',
      password_confirmation: 'moon-over-lanruo',
    };
    expect(bodiesOf(requests)).toEqual([body]);
  });

  test('is saved as a sign-in reads it, in half and full width', async () => {
    const { user, requests } = open({ 'PUT /v1/user/password': { status: 204 } });
    await fill(user, '１２３４５６', '\u200b２４６８１０', '246810');
    await waitFor(() => expect(screen.getByLabelText(texts.password.current)).toHaveProperty('value', ''));
    const body = { current_password: '123456', password: '246810', password_confirmation: '246810' };
    expect(bodiesOf(requests)).toEqual([body]);
  });

  test('is not sent when the repetition differs', async () => {
    const { user, requests } = open();
    await fill(user, '123456', 'moon-over-lanruo', 'moon-over-lanru');
    expect(await screen.findByText(texts.password.mismatch)).toBeTruthy();
    expect(bodiesOf(requests)).toEqual([]);
  });

  test('a wrong current one is reported at its field', async () => {
    const refusal = { message: '当前密码不正确', errors: { current_password: ['当前密码不正确'] } };
    const { user } = open({ 'PUT /v1/user/password': { status: 422, body: refusal } });
    await fill(user, '000000', 'moon-over-lanruo');
    await waitFor(() =>
      expect(screen.getByLabelText(texts.password.current).getAttribute('aria-invalid')).toBe('true'),
    );
  });

  test('that was changed by an attempt without an answer is not called wrong', async () => {
    let current = '123456';
    const { user, requests } = open({
      'PUT /v1/user/password': ({ body }: RecordedRequest) => {
        const change = body as Record<string, string>;
        const problem = '当前密码不正确';
        if (change.current_password !== current)
          return { status: 422, body: { message: problem, errors: { current_password: [problem] } } };
        if (change.password === current) return { status: 204 };
        current = change.password ?? '';
        return { status: 504, body: {} };
      },
    });
    await fill(user, '123456', 'moon-over-lanruo');
    await waitFor(() => expect(store.getState().toasts).toHaveLength(1));
    await user.click(screen.getByRole('button', { name: texts.password.save }));
    await waitFor(() => expect(screen.getByLabelText(texts.password.current)).toHaveProperty('value', ''));
    expect(store.getState().toasts.map(({ text }) => text)).toContain(texts.password.saved);
    expect(bodiesOf(requests)).toHaveLength(3);
  });

  test('that an attempt without an answer has not changed is refused as before', async () => {
    let attempts = 0;
    const problem = '当前密码不正确';
    const refusal = { status: 422, body: { message: problem, errors: { current_password: [problem] } } };
    const { user } = open({
      'PUT /v1/user/password': () => (attempts++ === 0 ? { status: 504, body: {} } : refusal),
    });
    await fill(user, '000000', 'moon-over-lanruo');
    await waitFor(() => expect(store.getState().toasts).toHaveLength(1));
    await user.click(screen.getByRole('button', { name: texts.password.save }));
    expect(await screen.findByText(problem)).toBeTruthy();
    expect(screen.getByLabelText(texts.password.new)).toHaveProperty('value', 'moon-over-lanruo');
  });

  test('tells a refusal in a toast when the page was left', async () => {
    let refuse = (_answer: object) => {};
    const { user, requests } = open({
      'PUT /v1/user/password': () => new Promise<object>((resolve) => (refuse = resolve)),
    });
    await fill(user, '000000', 'moon-over-lanruo');
    await waitFor(() => expect(bodiesOf(requests)).toHaveLength(1));
    await user.click(screen.getByRole('button', { name: '返回' }));
    await screen.findByRole('link', { name: /查看个人资料/ });
    const problem = '当前密码不正确';
    await act(async () => refuse({ status: 422, body: { message: problem, errors: { current_password: [problem] } } }));
    await waitFor(() => expect(store.getState().toasts.map((toast) => toast.text)).toContain(problem));
  });
});
