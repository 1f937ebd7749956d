import type { AccountEmailDto, CursorPage, DeletionDto, UserSessionDto } from '@liaozhai/shared/contract';
import {
  accountEmailSchema,
  anyPayload,
  api,
  cursorPageSchema,
  deletionSchema,
  endpoints,
  listen,
  onCaughtUpNeeded,
  session,
  singleSchema,
  userSessionSchema,
} from '@liaozhai/shared/runtime';

/** The account's address: the confirmed one, and the one that waits for the link of its mail. */
export interface AccountEmail {
  email: string;
  pending: string;
}

export const toAccountEmail = (dto: AccountEmailDto): AccountEmail => ({
  email: dto.email ?? '',
  pending: dto.pending?.email ?? '',
});

/** Named as the server names the fields, since that is how it refuses them. */
export interface EmailChange {
  email: string;
  current_password: string;
}

/** Named as the server names the field. */
export interface DeletionRequest {
  current_password: string;
}

/** A browser in which the account is signed in. */
export interface Device {
  id: string;
  /** in plain words: `iPhone 上的 Safari` */
  name: string;
  /** ISO */
  lastUsedAt: string;
  isCurrent: boolean;
}

/** The present one first. */
export const toDevices = ({ items }: CursorPage<UserSessionDto>): Device[] =>
  items
    .map((dto) => ({
      id: String(dto.id),
      name: deviceName(dto.user_agent ?? ''),
      lastUsedAt: dto.last_used_at ?? '',
      isCurrent: dto.is_current === true,
    }))
    .sort((left, right) => Number(right.isCurrent) - Number(left.isCurrent));

// the first that fits: those that go by other names as well stand before them
const systems: [RegExp, string][] = [
  [/iPhone/, 'iPhone '],
  [/iPad/, 'iPad '],
  [/HarmonyOS|OpenHarmony/, '鸿蒙设备'],
  [/Android(?=.*Mobile)/, '安卓手机'],
  [/Android/, '安卓平板'],
  [/Windows/, 'Windows 电脑'],
  [/Macintosh/, 'Mac '],
  [/CrOS/, 'Chromebook '],
  [/Linux/, 'Linux 电脑'],
];
const browsers: [RegExp, string][] = [
  [/MicroMessenger/, '微信'],
  [/MQQBrowser/, ' QQ 浏览器'],
  [/ QQ\//, ' QQ'],
  [/UCBrowser/, ' UC 浏览器'],
  [/HuaweiBrowser/, '华为浏览器'],
  [/MiuiBrowser/, '小米浏览器'],
  [/SamsungBrowser/, '三星浏览器'],
  [/Edg(e|A|iOS)?\//, ' Edge'],
  [/OPR\//, ' Opera'],
  [/Firefox|FxiOS/, ' Firefox'],
  [/Chrome|CriOS/, ' Chrome'],
  [/Safari/, ' Safari'],
];

/** What a user agent means to its owner. */
export function deviceName(userAgent: string): string {
  const find = (names: [RegExp, string][]) => names.find(([sign]) => sign.test(userAgent))?.[1];
  const [system, browser] = [find(systems), find(browsers)];
  if (system && browser) return `${system}上的${browser}`;
  return (system ?? browser ?? '未知设备').trim();
}

const askAgain = { subscribe: false, forceRefetch: true };

/** Asks again whenever this happens, and when events may have been missed, until the answer is needed no longer. */
async function follow(event: 'user.updated' | 'session.ended', over: Promise<void>, ask: () => void) {
  const stops = [listen(event, anyPayload, ask), onCaughtUpNeeded(ask)];
  await over;
  for (const stop of stops) stop();
}

/** Calls of 账户与安全 alone; 我的 is there without them. */
export const securityApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    // never cached beyond the page: another device may have changed it
    accountGetEmail: build.query<AccountEmail, void>({
      query: () => ({ url: endpoints.email, schema: singleSchema(accountEmailSchema) }),
      transformResponse: toAccountEmail,
      keepUnusedDataFor: 0,
      // the link of the mail may be opened anywhere
      async onCacheEntryAdded(_, { dispatch, cacheEntryRemoved }) {
        await follow(
          'user.updated',
          cacheEntryRemoved,
          () => void dispatch(securityApi.endpoints.accountGetEmail.initiate(undefined, askAgain)),
        );
      },
    }),
    accountChangeEmail: build.mutation<AccountEmail, EmailChange | 'resend'>({
      query: (change) => {
        const schema = singleSchema(accountEmailSchema);
        if (change === 'resend') return { url: endpoints.resendEmail, method: 'POST', body: {}, schema };
        return { url: endpoints.email, method: 'PUT', body: change, schema };
      },
      transformResponse: toAccountEmail,
      async onQueryStarted(_change, { dispatch, queryFulfilled }) {
        const answer = await queryFulfilled.catch(() => null);
        if (answer) void dispatch(securityApi.util.upsertQueryData('accountGetEmail', undefined, answer.data));
      },
    }),
    accountGetDevices: build.query<Device[], void>({
      query: () => ({ url: endpoints.sessions, schema: cursorPageSchema(userSessionSchema) }),
      transformResponse: toDevices,
      keepUnusedDataFor: 0,
      async onCacheEntryAdded(_, { dispatch, cacheEntryRemoved }) {
        await follow(
          'session.ended',
          cacheEntryRemoved,
          () => void dispatch(securityApi.endpoints.accountGetDevices.initiate(undefined, askAgain)),
        );
      },
    }),
    accountEndSessions: build.mutation<void, Device | 'others'>({
      query: (which) => ({
        url: which === 'others' ? endpoints.sessions : endpoints.userSession(which.id),
        method: 'DELETE',
      }),
      transformResponse: () => undefined,
    }),
    accountScheduleDeletion: build.mutation<string, DeletionRequest>({
      query: (body) => ({ url: endpoints.deletion, method: 'POST', body, schema: singleSchema(deletionSchema) }),
      transformResponse: ({ deletion_at }: DeletionDto) => deletion_at ?? '',
      async onQueryStarted(_, { queryFulfilled }) {
        const answer = await queryFulfilled.catch(() => null);
        if (answer?.data) session.userPatched({ deletion_at: answer.data });
        else if (answer) void session.refresh();
      },
    }),
    accountKeep: build.mutation<void, void>({
      query: () => ({ url: endpoints.deletion, method: 'DELETE' }),
      transformResponse: () => undefined,
      async onQueryStarted(_, { queryFulfilled }) {
        if (await queryFulfilled.catch(() => null)) session.userPatched({ deletion_at: null });
      },
    }),
  }),
});

export const {
  useAccountGetEmailQuery,
  useAccountChangeEmailMutation,
  useAccountGetDevicesQuery,
  useAccountEndSessionsMutation,
  useAccountScheduleDeletionMutation,
  useAccountKeepMutation,
} = securityApi;
