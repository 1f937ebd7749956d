import { invitationSchema, isRouteMissing, minorSchema, readAs } from '@liaozhai/shared/contract';
import { type Check, checksOf, expectThat, shown, tolerated } from '../check.ts';
import { expectFields, idOf, Minor, recordOf, Session, User } from '../entities.ts';
import { pathOf, type Visitor } from '../visitor.ts';
import { announcedRules, currentUser, FOREIGN_SITE } from '../world.ts';

/** Expects that of two sessions the first one only is signed in. */
async function expectOnlyFirst(here: Visitor, there: Visitor): Promise<void> {
  const [{ status }, other] = [await here.get('/user'), await there.get('/user')];
  expectThat(status === 200 && other.status === 401, `${status} here, ${other.status} there`);
}

/** The only fields of the inviter that a guest may see. */
const INVITATION = Object.keys(invitationSchema.entries);

const sessionsOf = async (visitor: Visitor) => (await visitor.get('/user/sessions')).expectStatus(200).items;

export const accountChecks: Check[] = [
  ...checksOf('GET /v1/user', {
    async 'gives a member what a page needs'(world) {
      User.expectReadable((await world.mine.get('/user')).expectStatus(200).entity);
    },
    'gives every field of the user': tolerated(
      async (world) => User.expectAgreed(await currentUser(world.mine)),
      'leaves out what is missing',
    ),
  }),
  ...checksOf('PUT /v1/user', {
    'changes what is named, keeps the rest, and answers with the user': tolerated(async (world) => {
      (await world.spare.put('/user', { persona: '一名剑客', gender: 'male' })).expectSuccess();
      const renamedAnswer = (await world.spare.put('/user', { name: '燕赤霞' })).expectSuccess();
      User.expectReadable(renamedAnswer.entity);
      const storedUser = await currentUser(world.spare);
      const { balance } = storedUser;
      for (const answer of [renamedAnswer.entity, storedUser])
        expectFields('User', answer, { name: '燕赤霞', persona: '一名剑客', gender: 'male', balance });
    }, 'shows what the answer says, until the next reload'),
    'gives the user a higher version with every change': tolerated(async (world) => {
      const versions: number[] = [];
      for (const persona of ['书生', '道士'])
        versions.push(Number((await world.spare.put('/user', { persona })).entity.version));
      const [first = 0, second = 0] = versions;
      expectThat(second > first, `versions ${versions.join()}`);
    }, 'takes the state that arrives last, which may be the older one'),
    'refuses a persona of 1,001 characters with 422 at persona': tolerated(async (world) => {
      (await world.spare.put('/user', { persona: '字'.repeat(1_001) })).expectFieldErrors('persona');
    }, 'does not send one'),
    'refuses a picture of another origin with 422 at avatar': tolerated(async (world) => {
      if ((await world.spare.get('//api/media/avatars.json')).status > 299) return;
      (await world.spare.put('/user', { avatar: `${FOREIGN_SITE}/1.png` })).expectFieldErrors('avatar');
    }, 'offers its own; a picture elsewhere learns who looks at it'),
  }),
  ...checksOf('PUT /v1/user/password', {
    'refuses a wrong current password with 422 at current_password': tolerated(async (world) => {
      const form = { current_password: 'wrong-one', password: '975310', password_confirmation: '975310' };
      (await world.spare.put('/user/password', form)).expectFieldErrors('current_password');
    }, 'shows the server’s message'),
    'refuses two new passwords that differ with 422': tolerated(async (world) => {
      const { visitor, password: current_password } = await world.member('spare');
      const form = { current_password, password: '975310', password_confirmation: '013579' };
      (await visitor.put('/user/password', form)).expectFieldErrors('password', 'password_confirmation');
    }, 'shows the server’s message'),
    'changes the password, keeps this session and ends the others': tolerated(async (world) => {
      const spare = await world.member('spare');
      const elsewhere = await world.signIn(spare);
      const form = { current_password: spare.password, password: '975310', password_confirmation: '975310' };
      (await spare.visitor.put('/user/password', form)).expectSuccess();
      await expectOnlyFirst(spare.visitor, elsewhere).finally(() => {
        const back = { current_password: '975310', password: spare.password, password_confirmation: spare.password };
        return spare.visitor.put('/user/password', back);
      });
    }, 'says that it was changed; other devices stay signed in or this one is not'),
  }),
  ...checksOf('GET /v1/user/minor', {
    /** Checks in the order off, on, used, refused, off again. */
    'says that the mode is off, and what it would allow': tolerated(async (world) => {
      const answer = (await world.spare.get('/user/minor')).expectStatus(200);
      expectThat(readAs(minorSchema, answer.entity)?.on === false, answer);
      Minor.expectAgreed(answer.entity);
    }, 'says that it could not be loaded'),
  }),
  ...checksOf('PUT /v1/user/minor', {
    'refuses what is no PIN of four digits with 422 at pin, and turns it on by one': tolerated(async (world) => {
      (await world.spare.put('/user/minor', { pin: 'moon' })).expectFieldErrors('pin');
      (await world.spare.put('/user/minor', { pin: '2580' })).expectSuccess();
      const user = await currentUser(world.spare);
      expectThat(typeof user.minor === 'object' && user.minor !== null, user);
    }, 'shows the server’s message'),
  }),
  ...checksOf('POST /v1/user/minor/use', {
    'answers with what is left': tolerated(async (world) => {
      const answer = (await world.spare.post('/user/minor/use', {})).expectStatus(200);
      const { blocked, seconds_left } = answer.entity;
      expectThat(blocked !== null || Number(seconds_left) > 0, answer);
    }, 'counts down on its own clock'),
  }),
  ...checksOf('POST /v1/user/minor/reset', {
    'refuses a wrong password with 422 at password': tolerated(async (world) => {
      (await world.spare.post('/user/minor/reset', { password: 'wrong-one' })).expectFieldErrors('password');
    }, 'shows the server’s message'),
  }),
  ...checksOf('POST /v1/user/minor/unlock', {
    'refuses a wrong PIN with 422 at pin, and turns the mode off by the right one': tolerated(async (world) => {
      (await world.spare.post('/user/minor/unlock', { pin: '0000', off: true })).expectFieldErrors('pin');
      const answer = (await world.spare.post('/user/minor/unlock', { pin: '2580', off: true })).expectSuccess();
      expectThat(answer.entity.on === false, answer);
    }, 'shows the server’s message'),
  }),
  ...checksOf('GET /v1/invites/{code}', {
    'gives a visitor who invites and what both get, and nothing private': tolerated(async (world) => {
      const { invite_code } = await currentUser(world.mine);
      const answer = await world.visit(pathOf`/invites/${String(invite_code)}`);
      answer.expectStatus(200);
      const invitation = answer.entity;
      expectThat(readAs(invitationSchema, invitation) !== undefined, answer);
      const { invite_reward = recordOf(invitation).rewards } = await announcedRules(world.mine);
      expectFields('rewards', invitation.rewards, recordOf(invite_reward));
      const extraFields = Object.keys(invitation).filter((field) => !INVITATION.includes(field));
      expectThat(extraFields.length === 0, `it also has ${extraFields.join(', ')}: ${shown(answer)}`);
    }, 'shows the code alone'),
    'answers 404 to a code that nobody has': tolerated(async (world) => {
      const answer = (await world.visit('/invites/0000-nobody')).expectStatus(404);
      expectThat(!isRouteMissing(404, answer.body as object), answer);
    }, 'shows the code alone'),
  }),
  ...checksOf('POST /v1/invites/gifts/announced', {
    'answers with those that it took': tolerated(async (world) => {
      const answer = (await world.mine.post('/invites/gifts/announced', { ids: ['nothing'] })).expectStatus(200);
      const { data } = recordOf(answer.body);
      expectThat(Array.isArray(data) && data.length === 0, answer);
    }, 'announces nothing'),
  }),
  ...checksOf('GET /v1/email/verify/{id}/{hash}', {
    'refuses a forged link with 403': tolerated(async (world) => {
      const { id } = await world.member('theirs');
      const path = pathOf`/email/verify/${id}/${'0'.repeat(40)}?expires=4102444800&signature=00`;
      (await world.visit(path)).expectStatus(403);
    }, 'says that the link could not be used'),
  }),
  ...checksOf('POST /v1/email/verification-notification/resend', {
    'is done for a member': tolerated(async (world) => {
      (await world.spare.post('/email/verification-notification/resend')).expectSuccess();
    }, 'says 发送失败, or the server’s message'),
  }),
  ...checksOf('GET /v1/user/email', {
    'gives the account’s address and the one that waits for its confirmation': tolerated(async (world) => {
      const answer = (await world.spare.get('/user/email')).expectStatus(200);
      const { email, verified_at, pending } = answer.entity;
      expectThat(email === null && verified_at === null && pending === null, answer);
    }, 'shows the account without an address'),
  }),
  ...checksOf('PUT /v1/user/email', {
    'refuses a wrong current password with 422 at current_password': tolerated(async (world) => {
      const form = { email: 'conformance@example.org', current_password: 'wrong-one' };
      (await world.spare.put('/user/email', form)).expectFieldErrors('current_password');
    }, 'shows the server’s message'),
    'refuses what is no address with 422 at email': tolerated(async (world) => {
      const { visitor, password: current_password } = await world.member('spare');
      (await visitor.put('/user/email', { email: 'nobody', current_password })).expectFieldErrors('email');
    }, 'does not send one'),
  }),
  ...checksOf('POST /v1/user/email/resend', {
    'answers 409 while no address waits for its confirmation': tolerated(
      async (world) => (await world.spare.post('/user/email/resend')).expectStatus(409),
      'offers it only while one does',
    ),
  }),
  ...checksOf('GET /v1/user/sessions', {
    'lists the account’s sessions and marks the one that asks': tolerated(async (world) => {
      const spare = await world.member('spare');
      await world.signIn(spare);
      const sessions = await sessionsOf(spare.visitor);
      Session.expectAgreed(...sessions);
      const current = sessions.filter(({ is_current }) => is_current === true);
      expectThat(sessions.length > 1 && current.length === 1, sessions);
    }, 'marks no device as 本机'),
  }),
  ...checksOf('DELETE /v1/user/sessions/{id}', {
    'ends that session and no other': tolerated(async (world) => {
      const spare = await world.member('spare');
      const elsewhere = await world.signIn(spare);
      const there = (await sessionsOf(elsewhere)).find(({ is_current }) => is_current === true);
      (await spare.visitor.delete(pathOf`/user/sessions/${idOf(there)}`)).expectSuccess();
      await expectOnlyFirst(spare.visitor, elsewhere);
    }, 'says that the device is logged out'),
    async 'answers 404 to another account’s session'(world) {
      const theirs = await world.member('theirs');
      const [session] = await sessionsOf(theirs.visitor);
      (await world.spare.delete(pathOf`/user/sessions/${idOf(session)}`)).expectStatus(404);
      (await theirs.visitor.get('/user')).expectStatus(200);
    },
  }),
  ...checksOf('DELETE /v1/user/sessions', {
    'ends every session but the one that asks': tolerated(async (world) => {
      const spare = await world.member('spare');
      const elsewhere = await world.signIn(spare);
      (await spare.visitor.delete('/user/sessions')).expectSuccess();
      await expectOnlyFirst(spare.visitor, elsewhere);
    }, 'says that the other devices are logged out'),
  }),
  ...checksOf('POST /v1/user/deletion', {
    'refuses a wrong password with 422 at current_password': tolerated(async (world) => {
      const answer = await world.spare.post('/user/deletion', { current_password: 'wrong-one' });
      answer.expectFieldErrors('current_password');
    }, 'shows the server’s message'),
    'gives the day of erasure, days ahead, and keeps this session signed in': tolerated(async (world) => {
      const { visitor, password: current_password } = await world.member('spare');
      const answer = (await visitor.post('/user/deletion', { current_password })).expectSuccess();
      const at = Date.parse(String(answer.entity.deletion_at));
      const { deletion_at } = await currentUser(visitor);
      await visitor.delete('/user/deletion');
      expectThat(at > Date.now() && Date.parse(String(deletion_at)) === at, `${shown(answer)} · ${deletion_at}`);
    }, 'requests the user again'),
  }),
  ...checksOf('DELETE /v1/user/deletion', {
    'takes it back': tolerated(async (world) => {
      const { visitor, password: current_password } = await world.member('spare');
      await visitor.post('/user/deletion', { current_password });
      (await visitor.delete('/user/deletion')).expectSuccess();
      const { deletion_at } = await currentUser(visitor);
      expectThat(deletion_at === null, String(deletion_at));
    }, 'says that the account stays'),
  }),
];
