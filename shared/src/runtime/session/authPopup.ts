import { csrfToken } from '../client/client';

/** `invite` greets who came by an invite link before it registers them. */
export type LoginMode = 'register' | 'login' | 'invite';

type Answer = (mode: LoginMode) => Promise<boolean>;

/** Between whoever needs a sign-in and the host, which owns the popup. */
export function createAuthPopup() {
  let answer: Answer | null = null;
  const waiting = new Set<() => void>();
  return {
    /** `handler` opens the popup; it resolves to true once signed in, false when closed. Returns the way to stop. */
    onRequest(handler: Answer): () => void {
      answer = handler;
      for (const go of [...waiting]) go();
      return () => {
        if (answer === handler) answer = null;
      };
    },
    /** Opens the popup; true once signed in, false when closed. */
    async request(mode: LoginMode = 'register'): Promise<boolean> {
      // there by the time the form is sent
      void csrfToken.prepare();
      // a screen may ask while the popup's owner is still being mounted
      if (!answer)
        await new Promise<void>((resolve) => {
          const go = () => {
            waiting.delete(go);
            resolve();
          };
          waiting.add(go);
        });
      return answer ? answer(mode) : false;
    },
  };
}

/** The page's one popup. */
export const authPopup = createAuthPopup();

export const requestLogin = authPopup.request;
