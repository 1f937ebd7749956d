import type { MinorDto, UserDto } from '@liaozhai/shared/contract';
import { dayKey, serverNow } from '@liaozhai/shared/format';
import {
  api,
  checkInSchema,
  endpoints,
  isApiError,
  minorSchema,
  session,
  singleSchema,
  userSchema,
} from '@liaozhai/shared/runtime';
import {
  type CheckIn,
  type MinorChange,
  type PasswordChange,
  type ProfileEdits,
  toAvatars,
  toCheckIn,
  toPasswordChangeDto,
} from './model';

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

const accountApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    // a static list beside the pictures; a backend without one answers 404 and only the present picture is shown
    accountGetAvatars: build.query<string[], void>({
      query: () => ({ url: endpoints.avatars, isOptional: true }),
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
        const isToday = date === dayKey(serverNow());
        if (isToday) session.userPatched({ checked_in_today: true });
        // a day that turned on the way leaves today open; which day it is now, and what is missing, only the server knows
        if (!isToday || balance === undefined || streak === undefined) void session.refresh();
      },
    }),
  }),
});

export const {
  useAccountGetAvatarsQuery,
  useAccountUpdateProfileMutation,
  useAccountChangePasswordMutation,
  useAccountCheckInMutation,
  useAccountGetMinorQuery,
  useAccountChangeMinorMutation,
} = accountApi;
