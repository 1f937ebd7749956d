import type { UserDto } from '@liaozhai/shared/contract';
import { dayKey } from '@liaozhai/shared/format';
import {
  accountEmailSchema,
  anyPayload,
  api,
  checkInSchema,
  endpoints,
  isApiError,
  listen,
  onCaughtUpNeeded,
  session,
  singleSchema,
  userSchema,
} from '@liaozhai/shared/runtime';
import {
  type AccountEmail,
  type CheckIn,
  type EmailChange,
  type PasswordChange,
  type ProfileEdits,
  toAccountEmail,
  toAvatars,
  toCheckIn,
  toPasswordChangeDto,
} from './model';

export const accountApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    // a static list beside the pictures; a backend without one answers 404 and only the present picture is shown
    accountGetAvatars: build.query<string[], void>({
      query: () => endpoints.avatars,
      transformResponse: toAvatars,
    }),
    accountUpdateProfile: build.mutation<UserDto, ProfileEdits>({
      query: (edits) => ({ url: endpoints.user, method: 'PUT', body: edits, schema: singleSchema(userSchema) }),
      // the user lives in the session only, so the answer goes there before the caller hears of it
      async onQueryStarted(_edits, { queryFulfilled }) {
        const answer = await queryFulfilled.catch(() => null);
        if (answer) session.userReceived(answer.data);
      },
    }),
    accountChangePassword: build.mutation<void, PasswordChange>({
      query: (change) => ({ url: endpoints.password, method: 'PUT', body: toPasswordChangeDto(change) }),
      transformResponse: () => undefined,
    }),
    // never cached beyond the page: another device may have changed it
    accountGetEmail: build.query<AccountEmail, void>({
      query: () => ({ url: endpoints.email, schema: singleSchema(accountEmailSchema) }),
      transformResponse: toAccountEmail,
      keepUnusedDataFor: 0,
      async onCacheEntryAdded(_, { dispatch, cacheEntryRemoved }) {
        const ask = () => {
          const again = { subscribe: false, forceRefetch: true };
          void dispatch(accountApi.endpoints.accountGetEmail.initiate(undefined, again));
        };
        // the link of the mail may be opened anywhere
        const stops = [listen('user.updated', anyPayload, ask), onCaughtUpNeeded(ask)];
        await cacheEntryRemoved;
        for (const stop of stops) stop();
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
        if (answer) void dispatch(accountApi.util.upsertQueryData('accountGetEmail', undefined, answer.data));
      },
    }),
    accountCheckIn: build.mutation<CheckIn, string>({
      query: (idempotencyKey) => ({
        url: endpoints.checkIn,
        method: 'POST',
        body: {},
        idempotencyKey,
        schema: singleSchema(checkInSchema),
      }),
      transformResponse: toCheckIn,
      invalidatesTags: ['Transaction'],
      async onQueryStarted(_key, { queryFulfilled }) {
        const answer = await queryFulfilled.catch(({ error }: { error?: unknown }) => {
          // it may have been done all the same
          if (isApiError(error) && (error.kind === 'offline' || error.kind === 'timeout')) void session.refresh();
          return null;
        });
        if (!answer) return;
        const { date, balance, streak } = answer.data;
        session.userPatched({ balance, check_in_streak: streak });
        // a day that turned on the way leaves today open; which day it is now only the server knows
        if (date === dayKey(Date.now())) session.userPatched({ checked_in_today: true });
        else void session.refresh();
      },
    }),
  }),
});

export const {
  useAccountGetAvatarsQuery,
  useAccountUpdateProfileMutation,
  useAccountChangePasswordMutation,
  useAccountGetEmailQuery,
  useAccountChangeEmailMutation,
  useAccountCheckInMutation,
} = accountApi;
