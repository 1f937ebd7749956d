import { deletionSchema, endpoints, singleSchema } from '@liaozhai/shared/contract';
import { failureText, formatMoment, serverNow } from '@liaozhai/shared/format';
import { request, session, toApiError, toast } from '@liaozhai/shared/runtime';

/** Long enough to read it twice; 我的 shows the date permanently. */
const NOTICE_MS = 20_000;

/** Shows the user after sign-in when the account will be deleted, and offers to keep it. @param at ISO date, '' if unknown */
export function showDeletionNotice(at: string) {
  const dateText = at && `将于 ${formatMoment(at, serverNow())} `;
  const action = { label: '撤销', run: () => void cancelDeletion() };
  toast(`这个账号${dateText || '即将'}注销`, { action, durationMs: NOTICE_MS, isPersonal: true });
}

async function cancelDeletion() {
  try {
    const schema = singleSchema(deletionSchema);
    // the answer may still have a date
    const { deletion_at = null } = await request({ method: 'DELETE', url: endpoints.deletion, schema });
    session.userPatched({ deletion_at });
    if (deletion_at === null) toast('账号保留了，一切照旧', { kind: 'success' });
    else toast('还没有撤销，请再试一次', { kind: 'error' });
  } catch (cause) {
    const problem = failureText(toApiError(cause));
    if (problem) toast(problem, { kind: 'error' });
  }
}
