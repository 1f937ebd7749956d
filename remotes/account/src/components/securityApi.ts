import type { AccountEmailDto, CursorPage, DeletionDto, UserSessionDto } from '@liaozhai/shared/contract';
import { formatWait, rowsOf } from '@liaozhai/shared/format';
import {
  accountEmailSchema,
  api,
  cursorPageSchema,
  deletionSchema,
  endpoints,
  session,
  singleSchema,
  userSessionSchema,
} from '@liaozhai/shared/runtime';

/** The confirmed address and the one that awaits confirmation; empty if none. Some servers store that one as the address, unverified. */
function toAccountEmail({ email, verified_at, pending }: AccountEmailDto) {
  const address = email ?? '';
  return verified_at === null
    ? { email: '', pending: pending?.email ?? address }
    : { email: address, pending: pending?.email ?? '' };
}

/** A new address that the server repeats alone is not confirmed yet. */
const toChangedEmail = (dto: AccountEmailDto) =>
  toAccountEmail(dto.pending ? dto : { ...dto, verified_at: dto.verified_at ?? null });

export type AccountEmail = ReturnType<typeof toAccountEmail>;

const toDevice = (dto: UserSessionDto) => ({
  id: dto.id,
  /** Readable name, e.g. `iPhone 上的 Safari`. */
  name: deviceName(dto.user_agent ?? ''),
  /** ISO time. */
  lastUsedAt: dto.last_used_at ?? undefined,
  isCurrent: dto.is_current === true,
});

export type Device = ReturnType<typeof toDevice>;

/** Sorts the current device first. */
const toDevices = (page: CursorPage<UserSessionDto>): Device[] =>
  rowsOf([page])
    .map(toDevice)
    .sort((left, right) => Number(right.isCurrent) - Number(left.isCurrent));

// the first match applies, so systems and browsers whose user agent also contains another's name are listed first
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

/** Readable name of a user agent's system and browser. */
export function deviceName(userAgent: string): string {
  const find = (names: [RegExp, string][]) => names.find(([pattern]) => pattern.test(userAgent))?.[1];
  const [system, browser] = [find(systems), find(browsers)];
  if (system && browser) return `${system}上的${browser}`;
  return (system ?? browser ?? '未知设备').trim();
}

const refetchOptions = { subscribe: false, forceRefetch: true };

/** Requests of 账号与安全, separate from those of 我的. */
const securityApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    // not reused, since another device may have changed it
    accountGetEmail: build.query<AccountEmail, void>({
      query: () => ({ url: endpoints.email, schema: singleSchema(accountEmailSchema) }),
      transformResponse: toAccountEmail,
      keepUnusedDataFor: 0,
    }),
    accountChangeEmail: build.mutation<AccountEmail, { email: string; current_password: string } | 'resend'>({
      query: (change) => {
        const schema = singleSchema(accountEmailSchema);
        if (change === 'resend') return { url: endpoints.resendEmail, method: 'POST', body: {}, schema };
        return { url: endpoints.email, method: 'PUT', body: change, schema };
      },
      transformResponse: toChangedEmail,
      async onQueryStarted(_change, { dispatch, queryFulfilled }) {
        const result = await queryFulfilled.catch(() => null);
        // some servers confirm the change without sending the addresses
        if (result?.data.pending || result?.data.email)
          void dispatch(securityApi.util.upsertQueryData('accountGetEmail', undefined, result.data));
        else if (result) void dispatch(securityApi.endpoints.accountGetEmail.initiate(undefined, refetchOptions));
      },
    }),
    accountGetDevices: build.query<Device[], void>({
      query: () => ({ url: endpoints.sessions, schema: cursorPageSchema(userSessionSchema) }),
      transformResponse: toDevices,
      keepUnusedDataFor: 0,
    }),
    accountEndSessions: build.mutation<void, Device | 'others'>({
      query: (target) => ({
        url: target === 'others' ? endpoints.sessions : endpoints.userSession(target.id),
        method: 'DELETE',
      }),
    }),
    accountScheduleDeletion: build.mutation<string | null, { current_password: string }>({
      query: (body) => ({ url: endpoints.deletion, method: 'POST', body, schema: singleSchema(deletionSchema) }),
      transformResponse: ({ deletion_at }: DeletionDto) => deletion_at ?? null,
      async onQueryStarted(_, { queryFulfilled }) {
        const result = await queryFulfilled.catch(() => null);
        if (typeof result?.data === 'string') session.userPatched({ deletion_at: result.data });
        else if (result) void session.refresh();
      },
    }),
    /** Returns the date of a deletion that is still scheduled, else null. */
    accountKeep: build.mutation<string | null, void>({
      query: () => ({ url: endpoints.deletion, method: 'DELETE', schema: singleSchema(deletionSchema) }),
      transformResponse: ({ deletion_at }: DeletionDto) => deletion_at ?? null,
      async onQueryStarted(_, { queryFulfilled }) {
        const result = await queryFulfilled.catch(() => null);
        if (result) session.userPatched({ deletion_at: result.data });
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

/** Texts of 账号与安全, loaded only with that page. */
export const texts = {
  security: {
    title: '账号与安全',
    currentPassword: '当前密码',
    cancel: '取消',
    password: { title: '密码', detail: '在「个人资料」底部修改' },
  },
  email: {
    title: '邮箱',
    none: '还没有绑定邮箱。绑定后，忘记密码时可以靠它找回，也可以用它登录。',
    confirmed: '已确认',
    pending: (email: string) => `确认邮件已发到 ${email}，打开里面的链接就完成了。没收到？先看看垃圾邮件。`,
    bind: '绑定邮箱',
    change: '更换邮箱',
    field: '新邮箱',
    send: '发送确认邮件',
    sent: '确认邮件已发送',
    resend: '重新发送',
    resendIn: (seconds: number) => `${formatWait(seconds)}后可重新发送`,
  },
  devices: {
    title: '登录的设备',
    hint: '有不认识的设备？让它退出登录，再修改密码。',
    current: '本机',
    lastUsed: (when: string) => `最近使用：${when}`,
    end: '退出',
    endOf: (device: string) => `退出登录：${device}`,
    endOthers: '退出其他所有设备',
    ask: (device: string) => `退出「${device}」的登录？`,
    askOthers: '退出其他所有设备的登录？',
    body: '那里要再用这个账号，得重新登录。你的对话都在账号里，不会丢。',
    confirm: '退出登录',
    done: '已退出登录',
  },
  deletion: {
    title: '注销账号',
    about: [
      '对话、人设、昵称和头像全部删除，剩余的点数作废，用户名不再为你保留。',
      '有 7 天可以反悔：在此期间登录并按「撤销」，一切照旧；过后不能找回。',
      '法律要求保存的点数收支会留下，但不再带有任何能认出你的信息。',
      '其他设备马上退出登录。',
    ],
    begin: '注销账号…',
    typed: (words: string) => `输入「${words}」以确认`,
    typedWords: '注销账号',
    mistyped: (words: string) => `请原样输入「${words}」`,
    confirm: '注销账号',
    scheduled: (when: string) => `这个账号${when ? `将于 ${when} ` : '即将'}注销，对话和点数到时一并删除。`,
    keep: '撤销注销',
    kept: '账号保留了，一切照旧',
    notKept: '还没有撤销，请再试一次',
  },
} as const;
