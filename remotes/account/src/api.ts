import type { MinorDto, UserDto } from '@liaozhai/shared/contract';
import { dayKey } from '@liaozhai/shared/format';
import {
  accountEmailSchema,
  anyPayload,
  api,
  checkInSchema,
  cursorPageSchema,
  endpoints,
  isApiError,
  listen,
  minorSchema,
  onCaughtUpNeeded,
  session,
  singleSchema,
  userSchema,
  userSessionSchema,
} from '@liaozhai/shared/runtime';
import {
  type AccountEmail,
  type CheckIn,
  type Device,
  type EmailChange,
  type MinorChange,
  type PasswordChange,
  type ProfileEdits,
  toAccountEmail,
  toAvatars,
  toCheckIn,
  toDevices,
  toPasswordChangeDto,
} from './model';

const askAgain = { subscribe: false, forceRefetch: true };

/** Asks again whenever this happens, and when events may have been missed, until the answer is needed no longer. */
async function follow(event: 'user.updated' | 'session.ended', over: Promise<void>, ask: () => void) {
  const stops = [listen(event, anyPayload, ask), onCaughtUpNeeded(ask)];
  await over;
  for (const stop of stops) stop();
}

function minorRequest(change: MinorChange) {
  switch (change.kind) {
    case 'on':
      return { url: endpoints.minor, method: 'PUT', body: { pin: change.pin } };
    case 'off':
      return { url: endpoints.minorUnlock, method: 'POST', body: { pin: change.pin, off: true } };
    case 'extend':
      return { url: endpoints.minorUnlock, method: 'POST', body: { pin: change.pin } };
    case 'reset':
      return { url: endpoints.minorReset, method: 'POST', body: { password: change.password } };
    case 'use':
      return { url: endpoints.minorUse, method: 'POST', body: {} };
  }
}

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
      // the link of the mail may be opened anywhere
      async onCacheEntryAdded(_, { dispatch, cacheEntryRemoved }) {
        await follow(
          'user.updated',
          cacheEntryRemoved,
          () => void dispatch(accountApi.endpoints.accountGetEmail.initiate(undefined, askAgain)),
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
        if (answer) void dispatch(accountApi.util.upsertQueryData('accountGetEmail', undefined, answer.data));
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
          () => void dispatch(accountApi.endpoints.accountGetDevices.initiate(undefined, askAgain)),
        );
      },
    }),
    accountEndSessions: build.mutation<void, Device | 'others'>({
      query: (which) => ({
        url: which === 'others' ? endpoints.sessions : endpoints.session(which.id),
        method: 'DELETE',
      }),
      transformResponse: () => undefined,
    }),
    accountGetMinor: build.query<MinorDto, void>({
      query: () => ({ url: endpoints.minor, schema: singleSchema(minorSchema) }),
      providesTags: ['User'],
    }),
    /** Every change of 未成年人模式 answers with the whole of it, and the user carries it from there. */
    accountChangeMinor: build.mutation<MinorDto, MinorChange>({
      query: (change) => ({ ...minorRequest(change), schema: singleSchema(minorSchema) }),
      async onQueryStarted(_change, { queryFulfilled, dispatch }) {
        const answer = await queryFulfilled.catch(() => null);
        if (!answer) return;
        dispatch(accountApi.util.upsertQueryData('accountGetMinor', undefined, answer.data));
        session.userPatched({ minor: answer.data.on ? answer.data : null });
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
  useAccountGetDevicesQuery,
  useAccountEndSessionsMutation,
  useAccountChangeEmailMutation,
  useAccountCheckInMutation,
  useAccountGetMinorQuery,
  useAccountChangeMinorMutation,
} = accountApi;
