import { dayKey, signUpGiftText, toProductRules, UNNAMED } from '@liaozhai/shared/format';
import {
  hostConfig,
  Link,
  paths,
  RemoteSlot,
  requestLogin,
  session,
  share,
  toast,
  type User,
  useCapability,
  useFontSize,
  useScreen,
  useTheme,
  useUser,
} from '@liaozhai/shared/runtime';
import {
  Avatar,
  BookmarkIcon,
  Button,
  Card,
  ChevronRightIcon,
  CopyIcon,
  Dialog,
  FONT_SIZES,
  Foreign,
  IconButton,
  KeyIcon,
  ListRow,
  type ListRowProps,
  LogOutIcon,
  late,
  MoonIcon,
  RadioGroup,
  Seal,
  ShareIcon,
  Skeleton,
  SupportIcon,
  Tag,
  TransactionsIcon,
  UserIcon,
  useShanghaiDay,
  VisuallyHidden,
  WalletIcon,
} from '@liaozhai/shared/ui';
import { useEffect, useRef, useState, useTransition } from 'react';
import { copyWithToast, signOut } from '../components/actions';
import { CheckInCard } from '../components/CheckInCard';
import { inviteLink } from '../model';
import { texts } from '../texts';
import styles from './AccountViewPage.module.css';

const CLOCK_SKEW_MS = 120_000;

/** Fetches the user again after midnight, since the check-in belongs to a day. */
function useTodaysUser(userId: string | undefined, today: string) {
  const { isActive } = useScreen();
  // the host fetched the user when the page was opened, which may have been days ago
  const shownDay = useRef(dayKey(performance.timeOrigin));
  useEffect(() => {
    if (!userId || !isActive || shownDay.current === today) return;
    void session.refresh();
    // fetched again later: if the device's clock is ahead, the server's day has not changed yet
    const retryTimer = setTimeout(() => {
      shownDay.current = today;
      void session.refresh();
    }, CLOCK_SKEW_MS);
    return () => clearTimeout(retryTimer);
  }, [userId, today, isActive]);
}

/** Loaded separately, since few users see it. */
const DeletionNotice = late(async () => {
  const page = await import(/* webpackChunkName: "security" */ './SecurityEditPage');
  return { default: page.DeletionNotice };
});

export default function AccountViewPage() {
  const user = useUser();
  const today = useShanghaiDay();
  const canUndoDeletion = useCapability('account.delete');
  useTodaysUser(user?.id, today);
  return (
    <div className={styles.page}>
      <VisuallyHidden role="heading" aria-level={1}>
        {texts.my.title}
      </VisuallyHidden>
      {user ? (
        <>
          {user.deletionAt !== null && canUndoDeletion && <DeletionNotice at={user.deletionAt} />}
          <AccountHeader user={user} />
          <CheckInCard key={user.id} user={user} today={today} />
          {user.inviteCode && <InviteCard code={user.inviteCode} />}
          <EntryList user={user} />
        </>
      ) : (
        <GuestCard />
      )}
      <DisplayCard />
      {user && <SignOutButton />}
      <LegalLinks />
    </div>
  );
}

/** The user with a link to the profile, and below it the wallet's line with the balance. */
function AccountHeader({ user }: { user: User }) {
  return (
    <header>
      <Link className={styles.person} to={paths.profile()}>
        <Avatar name={user.name} src={user.avatar} size="large" decorative />
        <span className={styles.words}>
          <span className={styles.name}>
            <Foreign>{user.name || UNNAMED}</Foreign>
          </span>
          {user.username && (
            <span className={styles.username}>
              <Foreign>{texts.my.username(user.username)}</Foreign>
            </span>
          )}
        </span>
        <VisuallyHidden>{texts.my.toProfile}</VisuallyHidden>
        <ChevronRightIcon className={styles.chevron} size={20} />
      </Link>
      <div className={styles.balance}>
        <RemoteSlot name="my.balance" waiting={<Skeleton shape="card" count={1} />} />
      </div>
    </header>
  );
}

/** Longer than for other toasts, so that the link can be noted down. */
const LINK_TOAST_MS = 10_000;

async function shareLink(code: string) {
  const url = inviteLink(window.location.origin, code);
  const { name } = hostConfig().brand;
  const outcome = await share({ title: name, text: texts.invite.shareText(name), url });
  if (outcome === 'copied') toast(texts.invite.shareCopied, { kind: 'success' });
  if (outcome === 'failed') toast(texts.invite.shareFailed(url), { kind: 'error', durationMs: LINK_TOAST_MS });
}

function InviteCard({ code }: { code: string }) {
  const { inviterReward, inviteeReward } = toProductRules(hostConfig().rules);
  const areRewardsKnown = inviterReward !== undefined && inviteeReward !== undefined;
  return (
    <Card aria-label={texts.invite.title}>
      <h2 className={styles.title}>{texts.invite.title}</h2>
      <p className={styles.about}>
        {areRewardsKnown ? texts.invite.rewards(inviterReward, inviteeReward) : texts.invite.plain}
      </p>
      <div className={styles.line}>
        <p className={styles.code}>
          <span className={styles.label}>{texts.invite.code}</span>
          <span className={styles.value}>
            <Foreign>{code}</Foreign>
          </span>
        </p>
        <IconButton
          label={texts.invite.copy}
          icon={<CopyIcon size={20} />}
          onClick={() => void copyWithToast(code, texts.invite)}
        />
        <Button variant="quiet" small icon={<ShareIcon size={18} />} onClick={() => void shareLink(code)}>
          {texts.invite.share}
        </Button>
      </div>
    </Card>
  );
}

type EntryProps = Omit<ListRowProps, 'icon'> & { icon: typeof UserIcon; to: string };

const Entry = ({ icon: Icon, to, ...row }: EntryProps) => (
  <ListRow {...row} icon={<Icon size={20} />} asLink={<Link to={to} />} />
);

function EntryList({ user: { unreadAnswers: unread = 0, minor } }: { user: User }) {
  const hasEmail = useCapability('account.email');
  const hasDevices = useCapability('account.devices');
  const canDelete = useCapability('account.delete');
  const hasFavorites = useCapability('stories.favorites');
  const hasMinorMode = useCapability('account.minor');
  const words = texts.my;
  const minorState = minor ? texts.minor.on : texts.minor.off;
  const newAnswers = unread > 0 && <Tag tone="accent">{words.newAnswers(unread)}</Tag>;
  return (
    <Card flush>
      <nav aria-label={words.more}>
        <Entry icon={UserIcon} title={words.profile} detail={words.profileDetail} to={paths.profile()} />
        {(hasEmail || hasDevices || canDelete) && <Entry icon={KeyIcon} title={words.security} to={paths.security()} />}
        {hasFavorites && <Entry icon={BookmarkIcon} title={words.favorites} to={paths.favorites()} />}
        <Entry icon={TransactionsIcon} title={words.transactions} to={paths.transactions()} />
        <Entry icon={WalletIcon} title={words.recharge} to={paths.recharge()} />
        {hasMinorMode && <Entry icon={MoonIcon} title={texts.minor.title} detail={minorState} to={paths.minorMode()} />}
        <Entry icon={SupportIcon} title={words.support} value={newAnswers} to={paths.support()} />
        <RemoteSlot name="my.entries" />
      </nav>
    </Card>
  );
}

function GuestCard() {
  const gift = signUpGiftText(hostConfig().rules);
  return (
    <section className={styles.guest} aria-label={texts.guest.headline}>
      <Seal sign={hostConfig().brand.seal} size="large" />
      <h2 className={styles.headline}>{texts.guest.headline}</h2>
      <p className={styles.promise}>{texts.guest.promise}</p>
      <ul className={styles.benefits}>
        {[gift, ...texts.guest.benefits].filter(Boolean).map((benefit) => (
          <li key={benefit}>{benefit}</li>
        ))}
      </ul>
      <div className={styles.actions}>
        <Button block onClick={() => void requestLogin('register')}>
          {texts.guest.register}
        </Button>
        <Button block variant="quiet" onClick={() => void requestLogin('login')}>
          {texts.guest.login}
        </Button>
      </div>
    </section>
  );
}

function DisplayCard() {
  const words = texts.display;
  const [theme, setTheme] = useTheme();
  const [fontSize, setFontSize] = useFontSize();
  return (
    <Card aria-label={words.title}>
      <div className={styles.groups}>
        <RadioGroup legend={words.theme} name="theme" options={words.themes} value={theme} onChange={setTheme} />
        <RadioGroup
          legend={words.fontSize}
          name="font-size"
          options={FONT_SIZES}
          value={`${fontSize}` as const}
          onChange={(value) => setFontSize(Number(value) as typeof fontSize)}
        />
      </div>
      <p className={styles.sample}>{words.sample}</p>
    </Card>
  );
}

/** Terms, privacy policy and ICP number, for guests too. */
function LegalLinks() {
  const { icp } = hostConfig().brand;
  return (
    <section className={styles.legal} aria-label={texts.legal.ways}>
      {(['terms', 'privacy'] as const).map((kind) => {
        const externalUrl = hostConfig().legal[kind];
        const name = texts.legal[kind];
        return externalUrl ? (
          <a key={kind} href={externalUrl}>
            {name}
          </a>
        ) : (
          <Link key={kind} to={paths[kind]()}>
            {name}
          </Link>
        );
      })}
      {icp && (
        <a href="https://beian.miit.gov.cn/" rel="noreferrer">
          {icp}
        </a>
      )}
    </section>
  );
}

/** Signs out after a confirmation, because it removes the user's data from this device. */
function SignOutButton() {
  const [isAsking, setAsking] = useState(false);
  const [isSigningOut, start] = useTransition();
  const confirm = () =>
    start(async () => {
      await signOut();
      setAsking(false);
    });
  return (
    <>
      <Button variant="quiet" block icon={<LogOutIcon size={20} />} onClick={() => setAsking(true)}>
        {texts.signOut.action}
      </Button>
      <Dialog
        open={isAsking}
        title={texts.signOut.title}
        confirmLabel={texts.signOut.confirm}
        cancelLabel={texts.signOut.cancel}
        onConfirm={confirm}
        onClose={() => setAsking(false)}
        busy={isSigningOut}
        danger
      >
        {texts.signOut.body}
      </Dialog>
    </>
  );
}
