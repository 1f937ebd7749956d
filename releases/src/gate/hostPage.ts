import { buildFolder } from '../model/ids.ts';
import { inlineContents, misplaced } from '../page/renderPage.ts';
import { type GateCheck, isChanged } from './gateCheck.ts';

function problemsOf(template: string): string[] {
  const problems = misplaced(template).map((name) => `must hold <!--lz:${name}--> exactly once`);
  if (!/^\s*<!doctype html>/i.test(template)) problems.push('must begin with <!doctype html>');
  if (inlineContents(template, 'script').length !== 1) problems.push('must hold exactly one inline script, the loader');
  if (/<script\b[^>]*\bsrc\s*=/i.test(template))
    problems.push('must not name a script by address: the loader appends the host');
  const markup = template.replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, '');
  if (/\son[a-z]+\s*=\s*["']/i.test(markup))
    problems.push('must not hold inline event handlers: the policy forbids them');
  if (/\sstyle\s*=\s*["']/i.test(markup)) problems.push('must not hold style attributes: the policy forbids them');
  return problems;
}

/** The host's page template can be filled, and keeps to the content security policy. */
export const hostPage: GateCheck = {
  name: 'host page',
  run: async (subject) => {
    const { store, host } = subject;
    if (!isChanged(subject, host)) return [];
    const template = await store.read(`${buildFolder(host.id)}/${host.description.template}`);
    const problems = template ? problemsOf(template.toString('utf8')) : ['is missing from the store'];
    return problems.map((line) => `${host.id}: ${host.description.template} ${line}`);
  },
};
