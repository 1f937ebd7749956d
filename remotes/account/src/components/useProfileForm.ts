import { codePoints, failureText } from '@liaozhai/shared/format';
import { isApiError, toast, type User } from '@liaozhai/shared/runtime';
import { useState } from 'react';
import { useAccountUpdateProfileMutation } from '../api';
import { PERSONA_CHARACTERS, type Profile, type ProfileEdits, toProfile, unsavedEdits } from '../model';
import { texts } from '../texts';

type FieldErrors = Partial<Record<keyof Profile, string[]>>;

/** What keeps this profile from being sent at all; the server checks the rest. */
function problemsOf({ name, persona }: Profile): FieldErrors {
  return {
    ...(name.trim() === '' && { name: [texts.profile.nameMissing] }),
    ...(codePoints(persona) > PERSONA_CHARACTERS && { persona: [texts.profile.personaTooLong(PERSONA_CHARACTERS)] }),
  };
}

/** Edits laid over the saved profile, so that what is not being edited follows the account on other devices. */
export function useProfileForm(user: User) {
  const [edits, setEdits] = useState<ProfileEdits>({});
  const [errors, setErrors] = useState<FieldErrors>({});
  const [isSaved, setSaved] = useState(false);
  const [update, { isLoading: isSaving }] = useAccountUpdateProfileMutation();
  const saved = toProfile(user);
  const unsaved = unsavedEdits(saved, edits);
  const values: Profile = { ...saved, ...unsaved };
  const isDirty = Object.keys(unsaved).length > 0;

  const edit = (change: ProfileEdits) => {
    setEdits((current) => ({ ...current, ...change }));
    setErrors((current) => ({
      ...current,
      ...Object.fromEntries(Object.keys(change).map((field) => [field, undefined])),
    }));
    setSaved(false);
  };
  const discard = () => {
    setEdits({});
    setErrors({});
  };
  const refused = (error: unknown) => {
    const fields: FieldErrors = isApiError(error) && error.kind === 'invalid' ? error.fields : {};
    setErrors(fields);
    // what stands at a field need not be said twice
    const problem = Object.keys(values).some((field) => field in fields) ? undefined : failureText(error);
    if (problem) toast(problem, { kind: 'error' });
  };
  const save = async () => {
    if (!isDirty || isSaving) return;
    const problems = problemsOf(values);
    setErrors(problems);
    if (Object.keys(problems).length > 0) return;
    const { error } = await update(unsaved);
    if (error) return refused(error);
    // what was typed while saving stays an edit
    setEdits((current) => unsavedEdits({ ...values, ...unsaved }, current));
    setSaved(true);
  };
  return { values, errors, isDirty, isSaving, isSaved: isSaved && !isDirty, edit, discard, save };
}

export type ProfileForm = ReturnType<typeof useProfileForm>;
