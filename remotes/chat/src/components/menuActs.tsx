import { ContinueIcon, CopyIcon, DeleteIcon, EditIcon, RefreshIcon } from '@liaozhai/shared/ui';
import { isRunning, type Line, type Log, type Message } from '../model';
import { texts } from '../texts';
import type { MenuAct } from './MessageMenu';
import type { ChatActs } from './useChatActs';

const SIZE = 20;

/** What the menu was opened for as it is now, since a line may go out under the open menu; null once it is gone. */
export function currentTarget(opened: Message | Line, log: Log): Message | Line | null {
  const { clientId } = opened;
  const line = 'state' in opened ? log.lines.find((each) => each.clientId === clientId) : undefined;
  const isSame = (message: Message) => ('state' in opened ? message.clientId === clientId : message.id === opened.id);
  return line ?? log.messages.findLast(isSame) ?? null;
}

export function messageActs(message: Message, acts: ChatActs, isLast: boolean): MenuAct[] {
  const copy = { label: texts.chat.copy, icon: <CopyIcon size={SIZE} />, run: () => acts.copy(message.body) };
  const mayGoOn = isLast && message.role === 'assistant' && !isRunning(message);
  if (!mayGoOn) return [copy];
  return [copy, { label: texts.resume.label, icon: <ContinueIcon size={SIZE} />, run: () => acts.resume(message) }];
}

/** One that is being sent can only be copied: what becomes of it is not ours to say. */
export function lineActs(line: Line, acts: ChatActs, edit: (text: string) => void): MenuAct[] {
  const copy = { label: texts.chat.copy, icon: <CopyIcon size={SIZE} />, run: () => acts.copy(line.body) };
  if (line.state === 'sending') return [copy];
  const takeBack = () => {
    if (acts.remove(line)) edit(line.body);
  };
  return [
    ...(line.state === 'failed'
      ? [{ label: texts.chat.resend, icon: <RefreshIcon size={SIZE} />, run: () => acts.retry(line) }]
      : []),
    copy,
    { label: texts.chat.edit, icon: <EditIcon size={SIZE} />, run: takeBack },
    { label: texts.chat.remove, icon: <DeleteIcon size={SIZE} />, run: () => acts.remove(line) },
  ];
}
