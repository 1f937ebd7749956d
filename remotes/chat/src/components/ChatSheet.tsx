import { formatPoints, wordsOf } from '@liaozhai/shared/format';
import { capabilities, type MenuMessage, RemoteSlot } from '@liaozhai/shared/runtime';
import {
  ChatIcon,
  ContinueIcon,
  CopyIcon,
  DeleteIcon,
  Dialog,
  EditIcon,
  FlagIcon,
  ImageIcon,
  ListRow,
  media,
  RefreshIcon,
  ResetIcon,
  SearchIcon,
  Sheet,
  TextSizeIcon,
} from '@liaozhai/shared/ui';
import { type ComponentType, useState } from 'react';
import { useLatePart } from '../api/failures';
import { resumePrice } from '../api/purchases';
import type { Log } from '../model/log';
import { isRunning, isUnfinished, type Message } from '../model/message';
import type { PendingMessage } from '../model/pendingMessage';
import type { Story } from '../model/story';
import { texts } from '../texts';
import styles from './ChatSheet.module.css';
import { MessageText } from './MessageRow';
import { PointsSheet } from './PointsSheet';
import { ReportSheet } from './ReportSheet';
import type { ChatActions } from './useChatActions';

/** Content of the sheet or dialog over the chat. */
export type OpenSheet =
  | { kind: 'menu'; target: Message | PendingMessage }
  | { kind: 'text'; title: string; text: string }
  | { kind: 'report'; message: Message }
  | { kind: 'picture'; message: Message }
  /** Actions for the whole conversation. */
  | { kind: 'more' }
  | { kind: 'runs' }
  /** `refusal`: what the server said, if it has just refused the action. */
  | { kind: 'points'; cost: number; refusal?: string }
  | ({ kind: 'confirm' } & Confirmation);

export interface ChatSheetProps {
  /** null while closed. */
  sheet: OpenSheet | null;
  story: Story;
  log: Log;
  /** The conversation's last message, which the log may not contain. */
  lastId: string | undefined;
  /** Whether the server supports `messages.regenerate`. */
  canRetell: boolean;
  actions: ChatActions;
  /** Appends text to the content of the composer. */
  onEdit: (text: string) => void;
  /** Starts editing one of the user's messages; undefined if the server does not support it. */
  onEditMessage: ((message: Message) => void) | undefined;
  onSearch: () => void;
  onOpen: (sheet: OpenSheet) => void;
  onClose: () => void;
}

/** The only sheet of a chat. It keeps its content while it closes. */
export function ChatSheet(props: ChatSheetProps) {
  const [lastSheet, setLastSheet] = useState(props.sheet);
  if (props.sheet && props.sheet !== lastSheet) setLastSheet(props.sheet);
  const shown = props.sheet ?? lastSheet;
  if (shown?.kind === 'menu') return <MenuSheet {...props} {...shown} />;
  if (shown?.kind === 'text') return <TextSheet {...props} {...shown} />;
  if (shown?.kind === 'more') return <MoreSheet {...props} />;
  if (shown?.kind === 'runs') return <StoryRunsSheet {...props} />;
  if (shown?.kind === 'confirm') return <ConfirmDialog {...props} {...shown} />;
  if (shown?.kind === 'picture') return <PictureSheet {...props} {...shown} key={shown.message.id} />;
  if (shown?.kind === 'report') return <ReportSheet {...props} {...shown} key={shown.message.id} />;
  if (shown?.kind === 'points') return <PointsSheet {...props} {...shown} />;
  return null;
}

/** Menu of one message, in its current state: a pending message may be sent while the menu is open. */
function MenuSheet(props: ChatSheetProps & { target: Message | PendingMessage }) {
  const { sheet, target: openedTarget, log, onClose } = props;
  const target = currentTarget(openedTarget, log);
  const title = nameOf(openedTarget, props.story.speaker.name);
  const menuMessage = (message: Message): MenuMessage => {
    const { id, role, body } = message;
    return { id, storyId: props.story.id, role, text: wordsOf(body) };
  };
  const items = target && ('state' in target ? pendingItems(target, props) : messageItems(target, props, title));
  return (
    <Sheet open={sheet !== null && target !== null} onClose={onClose} title={title}>
      <MenuItems items={items ?? []} onClose={onClose} />
      {target && 'id' in target && <RemoteSlot name="message.menu" message={menuMessage(target)} onClose={onClose} />}
    </Sheet>
  );
}

const MenuItems = ({ items, onClose }: { items: MenuItem[]; onClose: () => void }) =>
  items.map(({ label, detail, Icon, run }) => {
    const choose = () => {
      onClose();
      run();
    };
    return <ListRow key={label} title={label} detail={detail} icon={<Icon size={20} />} onClick={choose} />;
  });

function MoreSheet({ sheet, actions, onSearch, onOpen, onClose }: ChatSheetProps) {
  const { label, question: title, warning: text, confirm } = texts.restart;
  const confirmRestart = () =>
    onOpen({ kind: 'confirm', title, text, label: confirm, danger: true, run: actions.restart });
  const showRuns = () => onOpen({ kind: 'runs' });
  const items = [
    { needs: 'messages.search', label: texts.find.label, Icon: SearchIcon, run: onSearch },
    { needs: 'conversations.runs', label: texts.runs.label, detail: texts.runs.detail, Icon: ChatIcon, run: showRuns },
    { needs: 'conversations.restart', label, Icon: ResetIcon, run: confirmRestart },
  ] as const;
  return (
    <Sheet open={sheet?.kind === 'more'} onClose={onClose} title={texts.find.title}>
      <MenuItems items={items.filter(({ needs }) => capabilities.has(needs))} onClose={onClose} />
    </Sheet>
  );
}

const nameOf = (target: Message | PendingMessage, speakerName: string): string =>
  texts.chat.messageOf('state' in target || target.role === 'user' ? texts.chat.me : speakerName);

/** Current state of the menu's message; null if it has been removed. */
function currentTarget(openedTarget: Message | PendingMessage, log: Log): Message | PendingMessage | null {
  const { clientId } = openedTarget;
  const pending = 'state' in openedTarget ? log.pending.find((each) => each.clientId === clientId) : undefined;
  const isSame = (message: Message) =>
    'state' in openedTarget ? message.clientId === clientId : message.id === openedTarget.id;
  return pending ?? log.messages.findLast(isSame) ?? null;
}

interface MenuItem {
  label: string;
  /** Price, formatted. */
  detail?: string | undefined;
  Icon: ComponentType<{ size: number }>;
  run: () => void;
}

function messageItems(message: Message, props: ChatSheetProps, title: string): MenuItem[] {
  const { story, actions, lastId, canRetell, onEditMessage, onOpen } = props;
  const { pricePerMessage } = story;
  const items = [...textItems(message.body, isUnfinished(message), props, title), ...sharingItems(message, onOpen)];
  if (message.role === 'user' && onEditMessage)
    return [...items, { label: texts.editing.label, Icon: EditIcon, run: () => onEditMessage(message) }];
  if (message.id !== lastId || message.role !== 'assistant' || isRunning(message)) return items;
  const price = resumePrice(message, pricePerMessage);
  const resume = () => actions.resume(message, price);
  const retell = { label: texts.retell.label, Icon: RefreshIcon, run: () => actions.retell(message) };
  return [
    ...items,
    { label: texts.resume.label, detail: pointsText(price), Icon: ContinueIcon, run: resume },
    ...(canRetell ? [{ ...retell, detail: pointsText(pricePerMessage) }] : []),
  ];
}

const pointsText = (price: number | undefined) => (price === undefined ? undefined : formatPoints(price));

/** Actions that share a message: as a picture with others, as a report with the operator. */
function sharingItems(message: Message, onOpen: ChatSheetProps['onOpen']): MenuItem[] {
  if (isRunning(message) || message.body === '') return [];
  const canReport = message.role === 'assistant' && capabilities.has('messages.report');
  const report = () => onOpen({ kind: 'report', message });
  return [
    { label: texts.picture.label, Icon: ImageIcon, run: () => onOpen({ kind: 'picture', message }) },
    ...(canReport ? [{ label: texts.report.label, Icon: FlagIcon, run: report }] : []),
  ];
}

/** A message that is being sent cannot be withdrawn any more. */
function pendingItems(pending: PendingMessage, props: ChatSheetProps): MenuItem[] {
  const { actions, onEdit } = props;
  const items = textItems(pending.body, false, props, texts.chat.messageOf(texts.chat.me));
  if (pending.state === 'sending') return items;
  const moveToComposer = () => {
    if (actions.remove(pending)) onEdit(pending.body);
  };
  const resend = { label: texts.chat.resend, Icon: RefreshIcon, run: () => actions.retry(pending) };
  return [
    ...(pending.state === 'failed' ? [resend] : []),
    ...items,
    { label: texts.chat.edit, Icon: EditIcon, run: moveToComposer },
    { label: texts.chat.remove, Icon: DeleteIcon, run: () => actions.remove(pending) },
  ];
}

function textItems(body: string, isGrowing: boolean, { actions, onOpen }: ChatSheetProps, title: string): MenuItem[] {
  const select = () => onOpen({ kind: 'text', title, text: body });
  return [
    { label: texts.chat.copy, Icon: CopyIcon, run: () => actions.copy(wordsOf(body, isGrowing)) },
    ...(isSelectedBySheet() ? [{ label: texts.chat.select, Icon: TextSizeIcon, run: select }] : []),
  ];
}

/** On touch screens, where a long press in the log opens the menu instead of selecting text. */
const isSelectedBySheet = (): boolean => media('(pointer: coarse)').matches;

/** One message alone, so that its text can be selected by touch. */
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
  /** The action cannot be undone. */
  danger: boolean;
  run: () => void;
}

const ConfirmDialog = ({ sheet, title, text, label, danger, run, onClose }: ChatSheetProps & Confirmation) => (
  <Dialog
    open={sheet?.kind === 'confirm'}
    title={title}
    danger={danger}
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

const loadRuns = () => import(/* webpackChunkName: "story.chat.runs" */ './RunsSheet');

function StoryRunsSheet(props: ChatSheetProps) {
  const runs = useLatePart(loadRuns, props.sheet !== null, props.onClose);
  return runs && <runs.default {...props} />;
}

const loadPicture = () => import(/* webpackChunkName: "story.chat.picture" */ './PassagePicture');

function PictureSheet(props: ChatSheetProps & { message: Message }) {
  const picture = useLatePart(loadPicture, props.sheet !== null, props.onClose);
  return picture && <picture.default {...props} />;
}
