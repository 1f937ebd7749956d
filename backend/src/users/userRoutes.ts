import { Hono } from 'hono';
import * as v from 'valibot';
import {
  assertCurrentPassword,
  gender,
  givenPassword,
  hashPassword,
  newPassword,
  verifyPassword,
} from '../auth/accounts.ts';
import { endSessions } from '../auth/sessions.ts';
import { HOUR_MS, MINUTE_MS } from '../clock.ts';
import { rememberDevice } from '../http/cookies.ts';
import { type AppEnv, conflict, type Http, identityOf, invalid, tooMany, userOf, writingUser } from '../http/http.ts';
import { readInput, text, validate } from '../http/input.ts';
import { endOpenOrders } from '../payments/orders.ts';
import { announceUser } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { addUse, type MinorState, minorRules, newMinor, presentMinor, readMinor } from './minor.ts';
import { findUser, presentUser, userUpdate } from './user.ts';

const profileForm = ({ content }: Services) =>
  v.object({
    name: v.optional(text(1, rules.nameCharacters)),
    avatar: v.nullish(
      v.pipe(
        v.string(),
        v.check((url) => content.avatars.includes(url), '不在可选范围内'),
      ),
    ),
    gender,
    persona: v.optional(v.pipe(v.nullable(v.string(), ''), text(0, rules.personaCharacters))),
  });

const passwordChange = v.pipe(
  v.object({
    current_password: givenPassword,
    password: newPassword,
    password_confirmation: v.string(),
  }),
  v.forward(
    v.check((form) => form.password === form.password_confirmation, '与新密码不一致'),
    ['password_confirmation'],
  ),
);

export function userRoutes(services: Services): Hono<AppEnv> {
  const { db, clock, limits, env } = services;
  const profile = profileForm(services);
  return new Hono<AppEnv>()
    .get('/', (c) => c.json({ data: presentUser(userOf(c), clock()) }))
    .put('/', (c) => {
      const user = writingUser(c, services);
      const changes = validate(profile, readInput(c));
      db.transaction(() => {
        db.run(userUpdate(changes).where('id', '=', user.id));
        announceUser(services, user.id);
      });
      return c.json({ data: presentUser(findUser(services, user.id), clock()) });
    })
    .put('/password', async (c) => {
      const user = userOf(c);
      limits.consume(`password:${user.id}`, env.RATE_LIMIT_PASSWORD);
      const form = validate(passwordChange, readInput(c));
      await assertCurrentPassword(db, user, form.current_password);
      const password_hash = await hashPassword(db, form.password);
      db.transaction(() => {
        db.run(userUpdate({ password_hash }).where('id', '=', user.id));
        endSessions(services, user.id, identityOf(c).sessionHash);
      });
      rememberDevice(c, services.appKey, { id: user.id, password_hash });
      return c.body(null, 204);
    });
}

const { pinTries, pinPauseMinutes, extensionMinutes, resetHours } = rules.minorMode;

const pin = v.pipe(
  v.string(),
  v.check((value) => /^\d{4}$/.test(value), '须为 4 位数字'),
);
const pinForm = v.object({ pin });
/** `off` ends the mode; otherwise use is extended. */
const unlockForm = v.object({ pin, off: v.fallback(v.boolean(), false) });
const resetForm = v.object({ password: givenPassword });

/** Routes below `/v1/user/minor`: 未成年人模式, which a guardian turns on and off with a PIN. */
export function minorRoutes(services: Services): Hono<AppEnv> {
  const { db, clock, limits, env } = services;
  const respond = (c: Http, userId: string) => {
    const row = findUser(services, userId);
    return c.json({ data: { on: row.minor !== null, rules: minorRules, ...presentMinor(row, clock()) } });
  };
  return new Hono<AppEnv>()
    .get('/', (c) => respond(c, userOf(c).id))
    .put('/', async (c) => {
      const { id } = writingUser(c, services);
      const form = validate(pinForm, readInput(c));
      const pinHash = await hashPassword(db, form.pin);
      db.transaction(() => {
        if (findUser(services, id).minor) throw conflict('minor_on', '未成年人模式已经打开');
        saveMinor(services, id, newMinor(pinHash, clock()));
        endOpenOrders(services, id);
      });
      return respond(c, id);
    })
    .post('/unlock', async (c) => {
      const { id } = writingUser(c, services);
      const form = validate(unlockForm, readInput(c));
      const state = await verifyPin(services, id, form.pin);
      saveMinor(services, id, form.off ? null : { ...state, extendedUntil: clock() + extensionMinutes * MINUTE_MS });
      return respond(c, id);
    })
    .post('/use', (c) => {
      const { id } = writingUser(c, services);
      recordUse(services, id);
      return respond(c, id);
    })
    .post('/reset', async (c) => {
      const user = userOf(c);
      limits.consume(`minorReset:${user.id}`, env.RATE_LIMIT_PASSWORD);
      const form = validate(resetForm, readInput(c));
      if (!(await verifyPassword(db, user.password_hash, form.password))) throw invalid({ password: ['密码不正确'] });
      db.transaction(() => {
        const state = minorStateOf(services, user.id);
        const resetAt = state.resetAt ?? clock() + resetHours * HOUR_MS;
        saveMinor(services, user.id, resetAt <= clock() ? null : { ...state, resetAt });
      });
      return respond(c, user.id);
    });
}

/** Records use of the product while the mode is on. */
export function recordUse(services: Services, userId: string): void {
  const state = readMinor(findUser(services, userId));
  if (state) storeMinor(services, userId, addUse(state, services.clock()));
}

function minorStateOf(services: Services, userId: string): MinorState {
  const state = readMinor(findUser(services, userId));
  if (!state) throw conflict('minor_off', '未成年人模式没有打开');
  return state;
}

function storeMinor({ db }: Services, userId: string, state: MinorState | null): void {
  const minor = state && JSON.stringify(state);
  db.update('users', { id: userId }, { minor });
}

/** Stores the state and notifies the user's pages. */
function saveMinor(services: Services, userId: string, state: MinorState | null): void {
  services.db.transaction(() => {
    storeMinor(services, userId, state);
    services.db.run(userUpdate({}).where('id', '=', userId));
    announceUser(services, userId);
  });
}

/**
 * Verifies the PIN and returns a state without a pending reset. Throws 422, or 429 after too many wrong PINs.
 * Counts the attempt before the slow comparison, so that parallel guesses do not all pass.
 */
async function verifyPin(services: Services, userId: string, enteredPin: string): Promise<MinorState> {
  const { clock } = services;
  const stateBefore = minorStateOf(services, userId);
  const pauseMs = stateBefore.pausedUntil - clock();
  if (pauseMs > 0) throw tooMany(Math.ceil(pauseMs / 1000));
  const wrongPins = stateBefore.wrongPins + 1;
  const isLast = wrongPins >= pinTries;
  const attempt = isLast ? { wrongPins: 0, pausedUntil: clock() + pinPauseMinutes * MINUTE_MS } : { wrongPins };
  storeMinor(services, userId, { ...stateBefore, ...attempt });
  if (!(await verifyPassword(services.db, stateBefore.pinHash, enteredPin))) {
    const rest = isLast ? `请 ${pinPauseMinutes} 分钟后再试` : `还可以试 ${pinTries - wrongPins} 次`;
    throw invalid({ pin: [`监护密码不正确，${rest}`] });
  }
  return { ...minorStateOf(services, userId), wrongPins: 0, pausedUntil: 0, resetAt: null };
}
