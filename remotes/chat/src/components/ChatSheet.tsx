import { formatPoints, wordsOf } from '@liaozhai/shared/format';
import { Link, paths, useSelector, useUser } from '@liaozhai/shared/runtime';
import {
  CheckInIcon,
  ContinueIcon,
  CopyIcon,
  DeleteIcon,
  Dialog,
  EditIcon,
  GiftIcon,
  ListRow,
  RefreshIcon,
  ResetIcon,
  Sheet,
  TextSizeIcon,
  WalletIcon,
} from '@liaozhai/shared/ui';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { rewards, selectLacksPoints } from '../api/points';
import type { Log } from '../model/log';
import type { PendingMessage } from '../model/pendingMessage';
import { isRunning, type Message } from '../model/thread';
import { texts } from '../texts';
import styles from './ChatSheet.module.css';
import type { ChatActions } from './ChatView';
import { MessageText, type Retelling } from './MessageRow';

/** What lies over the chat: what can be done with a message, its text to select from, or how to get points. */
export type OpenSheet =
  | { kind: 'menu'; target: Message | PendingMessage }
  | { kind: 'text'; title: string; text: string }
  /** What can be done with the whole conversation. */
  | { kind: 'more' }
  | { kind: 'points'; cost: number }
  | { kind: 'confirm'; title: string; text: string; label: string; run: () => void };

export interface ChatSheetProps {
  /** null while closed. */
  sheet: OpenSheet | null;
  storyId: string;
  speakerName: string;
  log: Log;
  /** undefined where the server cannot tell a reply another way. */
  retelling: Retelling | undefined;
  actions: ChatActions;
  /** Puts words back into the composer. */
  onEdit: (text: string) => void;
  /** Lets the reader give one of their lines other words; undefined where the server cannot. */
  onEditMessage: ((message: Message) => void) | undefined;
  onOpen: (sheet: OpenSheet) => void;
  onClose: () => void;
}

/** The one sheet of a chat; while it closes it goes on showing what it showed. */
export function ChatSheet(props: ChatSheetProps) {
  const [last, setLast] = useState(props.sheet);
  if (props.sheet && props.sheet !== last) setLast(props.sheet);
  const shown = props.sheet ?? last;
  if (shown?.kind === 'menu') return <MenuSheet {...props} target={shown.target} />;
  if (shown?.kind === 'text') return <TextSheet {...props} title={shown.title} text={shown.text} />;
  if (shown?.kind === 'more') return <MoreSheet {...props} />;
  if (shown?.kind === 'confirm') return <ConfirmDialog {...props} {...shown} />;
  if (shown?.kind === 'points') return <PointsSheet {...props} cost={shown.cost} />;
  return null;
}

/** What can be done with one message, as it is now: a line may go out under the open menu. */
function MenuSheet(props: ChatSheetProps & { target: Message | PendingMessage }) {
  const { sheet, target: opened, log, onClose } = props;
  const target = currentTarget(opened, log);
  const title = nameOf(opened, props.speakerName);
  const acts = target && ('state' in target ? pendingActs(target, props) : messageActs(target, props, title));
  return (
    <Sheet open={sheet !== null && target !== null} onClose={onClose} title={title}>
      <Acts acts={acts ?? []} onClose={onClose} />
    </Sheet>
  );
}

const Acts = ({ acts, onClose }: { acts: MenuAct[]; onClose: () => void }) =>
  acts.map(({ label, detail, icon, run }) => (
    <ListRow
      key={label}
      title={label}
      detail={detail}
      icon={icon}
      onClick={() => {
        onClose();
        run();
      }}
    />
  ));

function MoreSheet({ sheet, actions, onOpen, onClose }: ChatSheetProps) {
  const { label, question: title, warning: text, confirm } = texts.restart;
  const ask = () => onOpen({ kind: 'confirm', title, text, label: confirm, run: actions.restart });
  return (
    <Sheet open={sheet?.kind === 'more'} onClose={onClose} title={texts.whole.title}>
      <Acts acts={[{ label, icon: <ResetIcon size={SIZE} />, run: ask }]} onClose={onClose} />
    </Sheet>
  );
}

const nameOf = (target: Message | PendingMessage, speakerName: string): string =>
  texts.chat.messageOf('state' in target || target.role === 'user' ? texts.chat.me : speakerName);

/** What the menu was opened for as it is now; null once it is gone. */
function currentTarget(opened: Message | PendingMessage, log: Log): Message | PendingMessage | null {
  const { clientId } = opened;
  const pending = 'state' in opened ? log.pending.find((each) => each.clientId === clientId) : undefined;
  const isSame = (message: Message) => ('state' in opened ? message.clientId === clientId : message.id === opened.id);
  return pending ?? log.messages.findLast(isSame) ?? null;
}

interface MenuAct {
  label: string;
  /** what it costs */
  detail?: string | undefined;
  icon: ReactNode;
  run: () => void;
}

const SIZE = 20;

function messageActs(message: Message, props: ChatSheetProps, title: string): MenuAct[] {
  const { actions, log, retelling, onEditMessage, onOpen } = props;
  const isLast = message.id === log.messages.at(-1)?.id;
  const acts = wordActs(message.body, isRunning(message), { actions, onOpen }, title);
  if (message.role === 'user' && onEditMessage) {
    return [...acts, { label: texts.editing.label, icon: <EditIcon size={SIZE} />, run: () => onEditMessage(message) }];
  }
  if (!isLast || message.role !== 'assistant' || isRunning(message)) return acts;
  const resume = () => actions.resume(message);
  const resumeAct = { label: texts.resume.label, icon: <ContinueIcon size={SIZE} />, run: resume };
  if (!retelling) return [...acts, resumeAct];
  const { price } = retelling;
  return [
    ...acts,
    resumeAct,
    {
      label: texts.retell.label,
      detail: price === undefined ? undefined : formatPoints(price),
      icon: <RefreshIcon size={SIZE} />,
      run: () => actions.retell(message),
    },
  ];
}

/** One that is being sent can only be read: what becomes of it is not ours to say. */
function pendingActs(pending: PendingMessage, { actions, onOpen, onEdit }: ChatSheetProps): MenuAct[] {
  const acts = wordActs(pending.body, false, { actions, onOpen }, texts.chat.messageOf(texts.chat.me));
  if (pending.state === 'sending') return acts;
  const takeBack = () => {
    if (actions.remove(pending)) onEdit(pending.body);
  };
  return [
    ...(pending.state === 'failed'
      ? [{ label: texts.chat.resend, icon: <RefreshIcon size={SIZE} />, run: () => actions.retry(pending) }]
      : []),
    ...acts,
    { label: texts.chat.edit, icon: <EditIcon size={SIZE} />, run: takeBack },
    { label: texts.chat.remove, icon: <DeleteIcon size={SIZE} />, run: () => actions.remove(pending) },
  ];
}

/** What can be done with the words of any message. */
function wordActs(
  body: string,
  isGrowing: boolean,
  { actions, onOpen }: Pick<ChatSheetProps, 'actions' | 'onOpen'>,
  title: string,
): MenuAct[] {
  const copy = () => actions.copy(wordsOf(body, isGrowing));
  const acts = [{ label: texts.chat.copy, icon: <CopyIcon size={SIZE} />, run: copy }];
  if (!isSelectedBySheet()) return acts;
  const select = () => onOpen({ kind: 'text', title, text: body });
  return [...acts, { label: texts.chat.select, icon: <TextSizeIcon size={SIZE} />, run: select }];
}

/** Where a long press in the log opens the menu, which a mouse's dragging does not. */
const isSelectedBySheet = (): boolean => matchMedia('(pointer: coarse)').matches;

/** A message by itself, for a finger to select from. */
const TextSheet = ({ sheet, title, text, onClose }: ChatSheetProps & { title: string; text: string }) => (
  <Sheet open={sheet?.kind === 'text'} onClose={onClose} title={title}>
    <div className={styles.text}>
      <MessageText text={text} />
    </div>
  </Sheet>
);

interface Confirmation {
  title: string;
  text: string;
  label: string;
  run: () => void;
}

/** A last question before something goes for good. */
const ConfirmDialog = ({ sheet, title, text, label, run, onClose }: ChatSheetProps & Confirmation) => (
  <Dialog
    open={sheet?.kind === 'confirm'}
    title={title}
    danger
    confirmLabel={label}
    cancelLabel={texts.confirm.cancel}
    onClose={onClose}
    onConfirm={() => {
      onClose();
      run();
    }}
  >
    {text}
  </Dialog>
);

/** Too few points: how many are wanted and what brings them. It closes once they are there. */
function PointsSheet({ sheet, storyId, cost, onClose }: ChatSheetProps & { cost: number }) {
  const user = useUser();
  const lacksPoints = useSelector((state) => selectLacksPoints(state, storyId, cost));
  // the server may have refused what this page thinks can be paid for
  const lacked = useRef(lacksPoints);
  useEffect(() => {
    if (lacked.current && !lacksPoints) onClose();
    lacked.current = lacksPoints;
  }, [lacksPoints, onClose]);
  if (!user) return null;
  const { checkIn, invite } = rewards(user);
  const checkInDetail =
    checkIn === undefined ? texts.points.checkInOpen : texts.points.checkInFor(formatPoints(checkIn));
  return (
    <Sheet open={sheet?.kind === 'points'} onClose={onClose} title={texts.points.title}>
      <p className={styles.about}>
        {cost === 0 ? texts.points.aboutPlain : texts.points.about(formatPoints(cost), formatPoints(user.balance))}
      </p>
      <ListRow
        title={texts.points.checkIn}
        icon={<CheckInIcon size={SIZE} />}
        detail={user.checkedInToday ? texts.points.checkInDone : checkInDetail}
        asLink={user.checkedInToday ? undefined : <Link to={paths.my()} onClick={onClose} />}
      />
      <ListRow
        title={texts.points.invite}
        icon={<GiftIcon size={SIZE} />}
        detail={invite === undefined ? texts.points.inviteOpen : texts.points.inviteFor(formatPoints(invite))}
        asLink={<Link to={paths.my()} onClick={onClose} />}
      />
      <ListRow
        title={texts.points.recharge}
        icon={<WalletIcon size={SIZE} />}
        asLink={<Link to={paths.recharge()} onClick={onClose} />}
      />
    </Sheet>
  );
}
