import {
  announcedSchema,
  endpoints,
  type GiftDto,
  type InvitationDto,
  invitationSchema,
  readAs,
  STORAGE_KEYS,
  singleSchema,
} from '@liaozhai/shared/contract';
import { formatNumber, toProductRules, UNNAMED } from '@liaozhai/shared/format';
import {
  capabilities,
  hostConfig,
  request,
  requestLogin,
  session,
  store,
  tab,
  toApiError,
  toast,
} from '@liaozhai/shared/runtime';
import { Avatar, Button, listenTo, stopAll } from '@liaozhai/shared/ui';
import { useEffect, useState } from 'react';
import styles from './AuthPopup.module.css';
import { texts } from './texts';
import { forgetInviteCode, readInviteCode } from './visitMemory';

export type Invitation = InvitationDto & { name: string };

const withName = (dto: InvitationDto): Invitation => ({ ...dto, name: dto.name || UNNAMED });

const invitationRequests = new Map<string, Promise<Invitation>>();

/** Loads the invitation of a code, once per page; a failed request may be repeated. Rejects with `ApiError`. */
function fetchInvitation(code: string): Promise<Invitation> {
  const invitation =
    invitationRequests.get(code) ??
    request({ url: endpoints.invite(code), schema: singleSchema(invitationSchema), isOptional: true }).then(withName);
  invitationRequests.set(code, invitation);
  invitation.catch(() => invitationRequests.delete(code));
  return invitation;
}

/** Returns the invitation of a code; null until it is loaded, and if it cannot be. */
export function useInvitation(code: string | null): Invitation | null {
  const [invitation, setInvitation] = useState<Invitation | null>(null);
  useEffect(() => {
    if (!code || !capabilities.has('invites')) return;
    // on failure the form shows only the code
    fetchInvitation(code).then(setInvitation, (cause) => void toApiError(cause));
  }, [code]);
  return invitation;
}

const GREETED_KEY = `${STORAGE_KEYS.invite}:greeted`;
const TOAST_MS = 6000;

/**
 * Shows the invitation to a guest who followed an invite link, once per visit. A guest who has used the page meanwhile gets a
 * toast that leads to it. An unknown code shows a toast, too.
 */
async function greet() {
  const code = readInviteCode();
  if (!code || !capabilities.has('invites') || session.current().status !== 'guest' || tab.get(GREETED_KEY) === code)
    return;
  let isPageUsed = false;
  const onUse = () => {
    isPageUsed = true;
  };
  const stopWatching = listenTo(document, ['pointerdown', 'keydown'], onUse, { capture: true });
  try {
    const { name } = await fetchInvitation(code);
    const show = () => void requestLogin('invite');
    if (session.current().status === 'guest') {
      if (!isPageUsed) show();
      else toast(texts.invite.from(name), { durationMs: TOAST_MS, action: { label: texts.invite.show, run: show } });
    }
  } catch (cause) {
    if (toApiError(cause).kind !== 'notFound') return;
    forgetInviteCode();
    toast(texts.invite.unknown, { durationMs: TOAST_MS });
  } finally {
    stopWatching();
  }
  tab.set(GREETED_KEY, code);
}

/** Shows a toast for each accepted invitation, and one for all invited friends together. Some servers do not say which it was. */
function showGifts(announcedGifts: readonly GiftDto[]) {
  const gifts = announcedGifts.filter(({ points }) => points > 0);
  const showToast = (text: string) => toast(text, { kind: 'success', durationMs: TOAST_MS });
  for (const { name, points } of gifts.filter(({ side }) => side === 'invitee'))
    showToast(texts.gifts.invitee(name || UNNAMED, points));
  const friends = gifts.filter(({ side }) => side === 'inviter');
  const [first] = friends;
  const points = friends.reduce((sum, friend) => sum + friend.points, 0);
  for (const gift of gifts.filter(({ side }) => side !== 'invitee' && side !== 'inviter'))
    showToast(texts.gifts.unknown(gift.points));
  if (first) showToast(texts.gifts.inviter(first.name || UNNAMED, friends.length, points));
}

/** Announces each of the user's gifts once: the server returns only those that no other page has announced. */
function createGiftAnnouncer() {
  const announcedIds = new Set<string>();
  return async () => {
    const current = session.current();
    if (current.status !== 'member' || document.visibilityState === 'hidden' || !capabilities.has('invites')) return;
    const gifts = current.user.gifts.filter(({ id }) => !announcedIds.has(id));
    if (gifts.length === 0) return;
    const ids = gifts.map(({ id }) => id);
    for (const id of ids) announcedIds.add(id);
    try {
      const answer = await request({ url: endpoints.giftsAnnounced, method: 'POST', body: { ids }, isOptional: true });
      // some servers confirm without the gifts
      showGifts(readAs(announcedSchema, answer)?.data ?? gifts);
    } catch (cause) {
      // the gifts stay unannounced, and the next page tries again
      console.info('gifts could not be announced', toApiError(cause).kind);
    }
  };
}

/**
 * Greets invited guests, and announces gifts now and as they arrive. `capabilitiesReady` resolves once the server's capabilities
 * are known. Returns the stop function.
 */
export function followInvites(capabilitiesReady: Promise<unknown>): () => void {
  const announce = createGiftAnnouncer();
  const checkGifts = () => void announce();
  void capabilitiesReady.then(() => {
    checkGifts();
    return greet();
  });
  return stopAll(store.subscribe(checkGifts), listenTo(document, ['visibilitychange'], checkGifts));
}

const formatPoints = (value: number | null | undefined) => (value && value > 0 ? formatNumber(value) : null);

/** Returns both rewards in one sentence; leaves out a side that gets nothing. */
export const rewardsText = ({ rewards }: InvitationDto): string =>
  texts.invite.rewards(formatPoints(rewards?.invitee), formatPoints(rewards?.inviter));

/** Shown before the registration: the inviting friend, both rewards, and a button to continue as a guest. */
export function InviteGreeting({ onAccept, onClose }: { onAccept: () => void; onClose: () => void }) {
  const [code] = useState(readInviteCode);
  const invitation = useInvitation(code);
  const { signUpGift } = toProductRules(hostConfig().rules);
  if (!invitation) return null;
  return (
    <div className={styles.greeting}>
      <Avatar name={invitation.name} src={invitation.avatar ?? ''} size="large" decorative />
      <p className={styles.invited}>{texts.invite.from(invitation.name)}</p>
      <p className={styles.note}>
        {[rewardsText(invitation), signUpGift !== undefined && texts.invite.signUpGift(formatNumber(signUpGift))]
          .filter(Boolean)
          .join('')}
      </p>
      <Button block onClick={onAccept}>
        {texts.invite.accept}
      </Button>
      <Button variant="quiet" block onClick={onClose}>
        {texts.invite.later}
      </Button>
    </div>
  );
}
