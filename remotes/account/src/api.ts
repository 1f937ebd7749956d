import type { UserDto } from '@liaozhai/shared/contract';
import { dayKey } from '@liaozhai/shared/format';
import { api, checkInSchema, endpoints, isApiError, session, singleSchema, userSchema } from '@liaozhai/shared/runtime';
import {
  type CheckIn,
  type PasswordChange,
  type ProfileEdits,
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
  useAccountCheckInMutation,
} = accountApi;
