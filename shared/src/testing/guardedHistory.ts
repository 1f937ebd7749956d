import { UNSAFE_createBrowserHistory as createBrowserHistory } from 'react-router-dom';
import { isLeaveGuarded, mayLeave } from '../runtime/leaveGuard';

type BrowserHistory = ReturnType<typeof createBrowserHistory>;

/** Browser history that calls the leave guards first, like the host's. */
export function createGuardedHistory(): BrowserHistory {
  const history = createBrowserHistory({ v5Compat: true });
  const guarded =
    <Parameters extends unknown[]>(move: (...parameters: Parameters) => void) =>
    (...parameters: Parameters) => {
      if (!isLeaveGuarded()) return move(...parameters);
      void mayLeave().then((mayMove) => mayMove && move(...parameters));
    };
  return {
    ...history,
    get action() {
      return history.action;
    },
    get location() {
      return history.location;
    },
    push: guarded(history.push),
    replace: guarded(history.replace),
    go: guarded(history.go),
  };
}
