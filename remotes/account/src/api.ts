import type { MinorDto, PasswordChangeDto, UserDto } from '@liaozhai/shared/contract';
import { dayKey, serverNow } from '@liaozhai/shared/format';
import {
  api,
  checkInSchema,
  endpoints,
  minorSchema,
  readAs,
  session,
  singleSchema,
  userSchema,
} from '@liaozhai/shared/runtime';
import { type CheckIn, type MinorChange, type ProfileEdits, toAvatars, toCheckIn } from './model';

const minorUrls: Record<MinorChange['kind'], string> = {
  on: endpoints.minor,
  off: endpoints.minorUnlock,
  extend: endpoints.minorUnlock,
  reset: endpoints.minorReset,
  use: endpoints.minorUse,
};

const minorRequest = ({ kind, ...body }: MinorChange) => ({
  url: minorUrls[kind],
  method: kind === 'on' ? 'PUT' : 'POST',
  body: kind === 'off' ? { ...body, off: true } : body,
});

/** Orders the changes of 未成年人模式. A report of use counts from its start, any other change from its end. */
const minorOrder = { last: 0, applied: 0 };

const accountApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    // a static list next to the pictures; without one (404), only the current picture is offered
    accountGetAvatars: build.query<string[], void>({
      query: () => ({ url: endpoints.avatars, isOptional: true }),
      transformResponse: toAvatars,
    }),
    accountUpdateProfile: build.mutation<UserDto | null, ProfileEdits>({
      query: (edits) => ({ url: endpoints.user, method: 'PUT', body: edits }),
      transformResponse: (response) => readAs(singleSchema(userSchema), response) ?? null,
      // the user is stored only in the session, which is updated before the caller continues
      async onQueryStarted(edits, { queryFulfilled }) {
        const result = await queryFulfilled.catch(() => null);
        if (!result) return;
        session.userPatched(edits);
        // some servers send a part of the user, or only confirm the change
        if (result.data) session.userPatched(result.data);
        await session.refresh();
      },
    }),
    accountChangePassword: build.mutation<void, PasswordChangeDto>({
      query: (change) => ({ url: endpoints.password, method: 'PUT', body: change }),
    }),
    accountGetMinor: build.query<MinorDto, void>({
      query: () => ({ url: endpoints.minor, schema: singleSchema(minorSchema) }),
      providesTags: ['User'],
    }),
    /** A change of 未成年人模式 returns its whole state, which is also stored in the user, or only confirms. */
    accountChangeMinor: build.mutation<Partial<MinorDto>, MinorChange>({
      query: minorRequest,
      transformResponse: (response) => readAs(singleSchema(minorSchema), response) ?? {},
      async onQueryStarted({ kind }, { queryFulfilled, dispatch }) {
        const startedAt = ++minorOrder.last;
        const result = await queryFulfilled.catch(() => null);
        const countsFrom = kind === 'use' ? startedAt : ++minorOrder.last;
        // a slow report must not undo what the guardian's PIN changed meanwhile
        if (!result || countsFrom < minorOrder.applied) return;
        minorOrder.applied = countsFrom;
        const { on, ...status } = result.data;
        // some servers confirm the change without sending the state
        if (on == null) {
          dispatch(accountApi.endpoints.accountGetMinor.initiate(undefined, { subscribe: false, forceRefetch: true }));
          return session.refresh();
        }
        dispatch(accountApi.util.upsertQueryData('accountGetMinor', undefined, { on, ...status }));
        session.userPatched({ minor: on ? { ...status } : null });
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
        const result = await queryFulfilled.catch(() => null);
        if (!result) return;
        const { date, balance, streak } = result.data;
        session.userPatched({ balance, check_in_streak: streak });
        const isToday = date === dayKey(serverNow());
        if (isToday) session.userPatched({ checked_in_today: true });
        // for an award of the previous day, today is still open; only the server knows the current day and any missing fields
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
