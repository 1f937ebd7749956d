import { useSelector, useUser } from '@liaozhai/shared/runtime';
import { followKeyboard } from '@liaozhai/shared/ui';
import { memo, type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react';
import { ideasKeyOf, recallIdeas } from '../api/ideas';
import { prices } from '../api/prices';
import type { Message, Story } from '../model';
import { selectChat } from '../slice';
import styles from './ChatFoot.module.css';
import { Composer, hasKeyboard } from './composer/Composer';
import { IdeaList } from './composer/IdeaList';
import { ReplyChips } from './composer/ReplyChips';
import { useDraft } from './composer/useDraft';
import type { ChatActs } from './useChatActs';

interface ChatFootProps {
  story: Story;
  /** As it is but for the text that it may be growing by. */
  last: Message | undefined;
  isRunning: boolean;
  isMember: boolean;
  acts: ChatActs;
  ref: Ref<ComposerHandle>;
}

export interface ComposerHandle {
  /** Puts words back into the composer, after what has been written there since. */
  putBack: (text: string) => void;
}

/** 灵感, 继续 and the composer, above the keyboard; what is typed stays in here, so that a key press draws nothing else and a growing reply nothing here. */
export const ChatFoot = memo(function ChatFoot({ story, last, isRunning, isMember, acts, ref }: ChatFootProps) {
  const [draft, write] = useDraft(story.id);
  const field = useRef<HTMLTextAreaElement>(null);
  useImperativeHandle(ref, () => ({ putBack: (text) => fill(draft ? `${draft}\n${text}` : text) }));
  const foot = useRef<HTMLDivElement>(null);
  const used = useRef<{ id: string; text: string } | null>(null);
  const user = useUser();
  const ideas = useSelector((state) => selectChat(state).ideas[story.id]);
  const isContinuing = useSelector((state) => selectChat(state).continuing.includes(story.id));
  const isBusy = isContinuing || isRunning;
  const [closedKey, setClosedKey] = useState<string | null>(null);
  const shownIdeas =
    last && ideas?.baseKey !== closedKey && ideas?.baseKey === ideasKeyOf(last) && ideas.status !== 'failed'
      ? ideas
      : undefined;
  useLayoutEffect(() => (foot.current ? followKeyboard(foot.current) : undefined), []);
  useEffect(() => void recallIdeas(story.id), [story.id]);

  const fill = (text: string) => {
    write(text);
    // on a touch screen the keyboard comes when the reader asks for it
    if (hasKeyboard()) field.current?.focus();
  };
  const closeIdeas = () => setClosedKey(ideas?.baseKey ?? null);
  const send = (body: string) => {
    const idea = used.current?.text.trim() === body ? used.current : null;
    used.current = null;
    write('');
    closeIdeas();
    acts.send(body, idea?.id);
  };
  return (
    <div ref={foot} className={styles.foot}>
      <Composer
        field={field}
        text={draft}
        onText={write}
        onSend={send}
        price={story.pricePerMessage}
        balance={user?.balance}
      >
        {shownIdeas && (
          <IdeaList
            ideas={shownIdeas}
            onUse={(idea) => {
              used.current = idea;
              fill(idea.text);
            }}
            onSend={(idea) => {
              closeIdeas();
              acts.send(idea.text, idea.id);
            }}
            onClose={closeIdeas}
          />
        )}
        {isMember && last && (
          <ReplyChips
            prices={prices()}
            isBusy={isBusy}
            canContinue={last.role === 'assistant'}
            onIdeas={() => {
              setClosedKey(null);
              acts.askIdeas();
            }}
            onContinue={() => acts.resume(last)}
          />
        )}
      </Composer>
    </div>
  );
});
