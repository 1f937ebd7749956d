import { failureText } from '@liaozhai/shared/format';
import {
  copyText,
  drafts,
  isApiError,
  newClientId,
  paths,
  requestLogin,
  toast,
  useNavigate,
} from '@liaozhai/shared/runtime';
import { useMemo } from 'react';
import { continueReply } from '../api/continueReply';
import { askIdeas } from '../api/ideas';
import { removeLine, retryLine, writeLine } from '../api/outbox';
import { catchUp } from '../api/threads';
import type { Line, Message } from '../model';
import { texts } from '../texts';

/** Everything a reader can do in the chat of one story. */
export function useChatActs(storyId: string, conversationId: string | null, isMember: boolean) {
  const navigate = useNavigate();
  return useMemo(() => {
    /** A purchase that failed says why; one that failed for lack of points leads to more. */
    const tell = (cause: unknown, fallback: string) => {
      if (!isApiError(cause)) throw cause;
      const problem = failureText(cause, fallback);
      if (!problem) return;
      const recharge = { label: texts.state.recharge, run: () => void navigate(paths.recharge()) };
      const action = cause.kind === 'insufficientBalance' ? recharge : undefined;
      toast(problem, { kind: 'error', action });
    };
    return {
      login: () => void requestLogin(),
      look: () => void catchUp(storyId),
      retry: (line: Line) => void retryLine(line),
      remove: (line: Line) => removeLine(line.clientId),
      send(body: string, suggestionId?: string) {
        const line: Line = {
          clientId: newClientId(),
          storyId,
          conversationId,
          body,
          createdAt: Date.now(),
          state: 'waiting',
        };
        void writeLine(suggestionId ? { ...line, suggestionId } : line);
        drafts.flush();
        if (!isMember) void requestLogin();
      },
      resume: (message: Message) =>
        void continueReply(storyId, message).catch((cause: unknown) => tell(cause, texts.resume.failed)),
      askIdeas: () =>
        void askIdeas(storyId).then(
          (came) => {
            if (!came) toast(texts.suggest.failed, { kind: 'error' });
          },
          (cause: unknown) => tell(cause, texts.suggest.failed),
        ),
      copy: (text: string) =>
        void copyText(text).then((done) =>
          toast(done ? texts.chat.copied : texts.chat.copyFailed, { kind: done ? 'success' : 'error' }),
        ),
    };
  }, [storyId, conversationId, isMember, navigate]);
}

export type ChatActs = ReturnType<typeof useChatActs>;
