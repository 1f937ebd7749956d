import { element } from './element';
import { texts } from './texts';

export interface Question {
  title: string;
  action: string;
  /** What will be different afterwards, one line each. */
  changes: readonly string[];
  danger?: boolean;
}

/** Shows a dialog until it is answered. Resolves with its return value. */
function answered(dialog: HTMLDialogElement): Promise<string> {
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
}

/** Asks before a change, naming what changes. Resolves with the reason given, or null if called off. */
export async function confirmChange({ title, action, changes, danger }: Question): Promise<{ why: string } | null> {
  const why = element('input', { type: 'text', maxlength: 500, id: 'why', autocomplete: 'off' });
  const lines = changes.length > 0 ? changes : [texts.confirm.nothing];
  const dialog = element('dialog', { 'aria-labelledby': 'question' });
  const cancel = element('button', { type: 'button', onclick: () => dialog.close('') }, texts.confirm.cancel);
  // the form's default button, so that Enter in the reason answers too
  const agree = element(
    'button',
    { type: 'submit', class: danger ? 'danger' : 'primary', onclick: () => dialog.close('yes') },
    action,
  );
  dialog.append(
    element('h2', { id: 'question' }, title),
    element('p', {}, texts.confirm.changes),
    element('ul', { class: 'changes' }, ...lines.map((line) => element('li', {}, line))),
    element(
      'form',
      { method: 'dialog' },
      element('label', { for: 'why' }, texts.confirm.why),
      why,
      element('div', { class: 'actions' }, cancel, agree),
    ),
  );
  const answer = await answered(dialog);
  return answer === 'yes' ? { why: why.value } : null;
}

/** Tells how something went; details can be selected and copied. */
export async function tell(title: string, lines: readonly string[]): Promise<void> {
  const dialog = element('dialog', { 'aria-labelledby': 'told' });
  dialog.append(
    element('h2', { id: 'told' }, title),
    element('ul', { class: 'changes' }, ...lines.map((line) => element('li', {}, line))),
    element(
      'div',
      { class: 'actions' },
      element('button', { type: 'button', class: 'primary', onclick: () => dialog.close() }, texts.done.close),
    ),
  );
  await answered(dialog);
}
