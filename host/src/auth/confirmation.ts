import { endpoints, singleSchema, type UserDto, userSchema } from '@liaozhai/shared/contract';
import { hostConfig, request, session, toApiError, toast } from '@liaozhai/shared/runtime';
import { listenTo, stopAll, useCountdown } from '@liaozhai/shared/ui';
import { useLayoutEffect } from 'react';
import { saveGender } from './nickname';
import { useSubmission } from './submission';
import { texts } from './texts';
import { pendingConfirmation } from './visitMemory';

const RESEND_PAUSE_SECONDS = 60;

/** Seconds until another mail may be requested; the previous one may still be in transit. */
function secondsUntilResend(): number {
  const mailedAt = pendingConfirmation.read()?.mailedAt ?? 0;
  const remainingSeconds = Math.ceil((mailedAt - Date.now()) / 1000) + RESEND_PAUSE_SECONDS;
  return Math.min(RESEND_PAUSE_SECONDS, Math.max(0, remainingSeconds));
}

/** Requests another confirmation mail, with a pause after each. */
export function useResend() {
  const words = texts.confirmEmail;
  const { busy, submit } = useSubmission(words.resendFailed);
  const [secondsLeft, startCountdown] = useCountdown(secondsUntilResend);
  const resend = () =>
    submit(() => request({ method: 'POST', url: endpoints.resendVerification }), {
      onSuccess() {
        pendingConfirmation.recordMail();
        startCountdown(RESEND_PAUSE_SECONDS);
        toast(words.resent, { kind: 'success' });
      },
      onFailure: (error) => error.kind === 'tooOften' && startCountdown(error.retryAfterSeconds ?? 0),
    });
  return { busy, secondsLeft, resend, label: secondsLeft > 0 ? words.resendIn(secondsLeft) : words.resend };
}

/** Saves the gender chosen at registration, which could not be sent before the address was confirmed. Runs once. */
export function settlePendingConfirmation() {
  const pending = pendingConfirmation.claim();
  const current = session.current();
  const isSameUser = current.status === 'member' && current.user.id === pending?.userId;
  if (isSameUser && pending?.gender && !current.user.gender) void saveGender(pending.gender);
}

const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;

/** Returns undefined to poll again (unconfirmed, or the request failed), null to stop (aborted, or no session). */
async function fetchConfirmedUser(signal: AbortSignal): Promise<UserDto | null | undefined> {
  try {
    const user = await request({ url: endpoints.user, schema: singleSchema(userSchema), signal });
    // some servers send the user before the confirmation, with this field null
    return user.email_verified_at === null ? undefined : user;
  } catch (cause) {
    return signal.aborted || toApiError(cause).kind === 'unauthenticated' ? null : undefined;
  }
}

/**
 * Signs in once the address is confirmed, possibly on another device. Polls with growing pauses while the page is visible, and
 * immediately when it becomes visible or online. Servers send no socket events to unconfirmed accounts.
 */
export function useConfirmationElsewhere() {
  // a layout effect is cleaned up as the popup closes, a passive one later
  useLayoutEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let pauseMs = FIRST_PAUSE_MS;
    let isFetching = false;
    // a response after the popup was closed must not open it again
    const controller = new AbortController();

    async function poll() {
      clearTimeout(timer);
      if (isFetching || document.visibilityState !== 'visible') return;
      isFetching = true;
      const user = await fetchConfirmedUser(controller.signal);
      if (user === null || controller.signal.aborted) return;
      isFetching = false;
      if (!user) return pollLater();
      session.userReceived(user);
      settlePendingConfirmation();
      toast(texts.confirmEmail.confirmed(hostConfig().brand.name), { kind: 'success' });
    }
    function pollLater() {
      timer = setTimeout(poll, pauseMs);
      pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
    }
    function pollNow() {
      pauseMs = FIRST_PAUSE_MS;
      void poll();
    }

    pollLater();
    return stopAll(
      () => controller.abort(),
      () => clearTimeout(timer),
      listenTo(document, ['visibilitychange'], pollNow),
      listenTo(window, ['pageshow', 'online'], pollNow),
    );
  }, []);
}
