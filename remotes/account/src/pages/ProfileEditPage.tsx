import { codePoints, linesOf, missingText } from '@liaozhai/shared/format';
import { blockReload, drafts, paths, type User, useGoBack, useLeaveGuard } from '@liaozhai/shared/runtime';
import {
  Avatar,
  Button,
  CheckIcon,
  Dialog,
  type FieldErrors,
  Foreign,
  GENDERS,
  RadioGroup,
  ShowIcon,
  StoryText,
  TextArea,
  TextField,
  TopBar,
  useFieldErrors,
} from '@liaozhai/shared/ui';
import clsx from 'clsx';
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { useAccountGetAvatarsQuery, useAccountUpdateProfileMutation } from '../api';
import { showRefusal } from '../components/actions';
import { PasswordForm } from '../components/PasswordForm';
import { useLastUser } from '../components/serverForm';
import {
  avatarChoices,
  type Gender,
  PERSONA_CHARACTERS,
  type Profile,
  type ProfileEdits,
  toProfile,
  toProfileEdits,
  unsavedEdits,
} from '../model';
import { texts } from '../texts';
import styles from './ProfileEditPage.module.css';

/** Number of avatars that the reference backend offers. */
const PLACEHOLDER_AVATARS = 12;

function ProfileEditor({ user }: { user: User }) {
  const { data: avatars = [], isLoading } = useAccountGetAvatarsQuery();
  const form = useProfileForm(user);
  const { values, errors, edit } = form;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void form.save();
  };
  return (
    <>
      <form ref={form.formRef} className={styles.form} onSubmit={submit} aria-label={texts.profile.title} noValidate>
        <AvatarPicker
          choices={avatarChoices(avatars, user.avatar)}
          placeholderCount={isLoading ? PLACEHOLDER_AVATARS : 0}
          value={values.avatar}
          name={values.name}
          onChange={(avatar) => edit({ avatar })}
        />
        <TextField
          label={texts.profile.name}
          name="name"
          autoComplete="nickname"
          value={values.name}
          error={errors.name}
          onChange={(event) => edit({ name: event.target.value })}
        />
        <RadioGroup<Gender | ''>
          legend={texts.profile.gender}
          name="gender"
          options={GENDERS}
          value={values.gender}
          onChange={(gender) => edit({ gender })}
        />
        <PersonaEditor owner={values} error={errors.persona} onChange={(persona) => edit({ persona })} />
        <SaveBar form={form} />
      </form>
      <PasswordForm user={user} />
      {/* what is being saved is not lost by leaving */}
      <LeaveDialog isDirty={form.isDirty && !form.isSaving} discard={form.discard} />
    </>
  );
}

export default function ProfileEditPage() {
  const user = useLastUser();
  const goBack = useGoBack(paths.my());
  return (
    <>
      <TopBar title={texts.profile.title} onBack={goBack} />
      <div className={styles.page}>{user && <ProfileEditor key={user.id} user={user} />}</div>
    </>
  );
}

interface AvatarPickerProps {
  /** Addresses of the available pictures; those that fail to load are omitted. */
  choices: readonly string[];
  /** Number of pictures while they load, to reserve their space. */
  placeholderCount: number;
  value: string;
  name: string;
  onChange: (avatar: string) => void;
}

function AvatarPicker({ choices, placeholderCount, value, name, onChange }: AvatarPickerProps) {
  const [failedUrls, setFailedUrls] = useState<readonly string[]>([]);
  const availableChoices = choices.filter((choice) => !failedUrls.includes(choice));
  return (
    <fieldset className={styles.picker}>
      <legend className={styles.legend}>{texts.profile.avatar}</legend>
      <div className={styles.line}>
        <Avatar name={name} src={value} size="large" decorative />
        <div className={styles.choices}>
          {availableChoices.map((choice, index) => (
            <label key={choice} className={styles.choice}>
              <input
                className={styles.input}
                type="radio"
                name="avatar"
                value={choice}
                checked={choice === value}
                onChange={() => onChange(choice)}
              />
              <img
                className={styles.picture}
                src={choice}
                alt={texts.profile.avatarChoice(index + 1)}
                onError={() => setFailedUrls((urls) => [...urls, choice])}
              />
            </label>
          ))}
          {Array.from({ length: placeholderCount - availableChoices.length }, (_, index) => (
            <span key={`${index + 1}`} className={clsx(styles.choice, styles.awaited)} />
          ))}
        </div>
      </div>
    </fieldset>
  );
}

function PersonaPreview({ persona, name, avatar }: Profile) {
  const paragraphs = linesOf(persona);
  if (paragraphs.length === 0) return <p className={styles.nothing}>{texts.profile.previewEmpty}</p>;
  return (
    <figure className={styles.preview}>
      <figcaption className={styles.bearer}>
        <Avatar name={name} src={avatar} decorative />
        <span translate="no">
          <Foreign>{name}</Foreign>
        </span>
      </figcaption>
      <StoryText>
        {paragraphs.map((paragraph, index) => (
          <p key={`${index.toString()}-${paragraph}`}>{paragraph}</p>
        ))}
      </StoryText>
    </figure>
  );
}

interface PersonaEditorProps {
  /** Its name and avatar show in the preview. */
  owner: Profile;
  error: FieldErrors[string];
  onChange: (persona: string) => void;
}

function PersonaEditor({ owner, error, onChange }: PersonaEditorProps) {
  const [isPreviewed, setPreviewed] = useState(false);
  const previewId = useId();
  return (
    <div className={styles.editor}>
      <TextArea
        label={texts.profile.persona}
        hint={texts.profile.personaHint}
        error={error}
        name="persona"
        placeholder={texts.profile.personaPlaceholder}
        value={owner.persona}
        rows={5}
        maxRows={14}
        maxCodePoints={PERSONA_CHARACTERS}
        onChange={(event) => onChange(event.target.value)}
      />
      <div id={previewId}>{isPreviewed && <PersonaPreview {...owner} />}</div>
      <Button
        variant="quiet"
        small
        icon={<ShowIcon size={18} />}
        aria-expanded={isPreviewed}
        aria-controls={previewId}
        onClick={() => setPreviewed(!isPreviewed)}
      >
        {isPreviewed ? texts.profile.closePreview : texts.profile.preview}
      </Button>
    </div>
  );
}

/** The form's last row; sticky while it has a message. */
function SaveBar({ form: { isDirty, isSaving, isSaved } }: { form: ProfileForm }) {
  return (
    <div className={clsx(styles.bar, (isDirty || isSaved) && styles.speaking)} data-foot>
      <p className={styles.state} role="status">
        {isDirty && <span>{texts.profile.unsaved}</span>}
        {isSaved && (
          <span className={styles.saved}>
            <CheckIcon size={18} />
            <span>{texts.profile.saved}</span>
          </span>
        )}
      </p>
      <Button type="submit" loading={isSaving} disabled={!isDirty}>
        {texts.profile.save}
      </Button>
    </div>
  );
}

/** Prevents leaving or reloading with unsaved changes. `discard` drops them; afterwards leaving needs no confirmation. */
function LeaveDialog({ isDirty, discard }: { isDirty: boolean; discard: () => void }) {
  const [isAsking, setAsking] = useState(false);
  const resolveAnswer = useRef<(leave: boolean) => void>(undefined);
  const answer = (leave: boolean) => {
    if (leave) discard();
    resolveAnswer.current?.(leave);
    resolveAnswer.current = undefined;
    setAsking(false);
  };
  const confirmLeave = () => {
    resolveAnswer.current?.(false);
    setAsking(true);
    return new Promise<boolean>((resolve) => {
      resolveAnswer.current = resolve;
    });
  };
  useLeaveGuard(isDirty, confirmLeave);
  useEffect(() => (isDirty ? blockReload('profile') : undefined), [isDirty]);
  return (
    <Dialog
      open={isAsking}
      title={texts.profile.leaveTitle}
      confirmLabel={texts.profile.leave}
      cancelLabel={texts.profile.stay}
      onConfirm={() => answer(true)}
      onClose={() => answer(false)}
      danger
    >
      {texts.profile.leaveBody}
    </Dialog>
  );
}

/** Problems of the edits that can be found before sending; the server checks the rest. */
const problemsOf = ({ name, persona = '' }: ProfileEdits): FieldErrors<keyof Profile> => ({
  name: name?.trim() === '' ? missingText(texts.profile.name) : undefined,
  persona: codePoints(persona) > PERSONA_CHARACTERS ? texts.profile.personaTooLong(PERSONA_CHARACTERS) : undefined,
});

const EDITS_DRAFT = 'form:profile';

/** Stores unsaved edits on the device like drafts, so that they survive an update, a crash or a reload. */
const storeEdits = (edits: ProfileEdits) =>
  drafts.write(EDITS_DRAFT, Object.keys(edits).length === 0 ? '' : JSON.stringify(edits));

/** Edits are merged over the saved profile, so that unedited fields follow changes from other devices. */
function useProfileForm(user: User) {
  const [edits, setEdits] = useState(() => toProfileEdits(drafts.read(EDITS_DRAFT)));
  const { formRef, errors, showErrors, clearErrors } = useFieldErrors<keyof Profile>('name', 'persona');
  const [isSaved, setSaved] = useState(false);
  const [update, { isLoading: isSaving }] = useAccountUpdateProfileMutation();
  const savedProfile = toProfile(user);
  const unsavedChanges = unsavedEdits(savedProfile, edits);
  const values: Profile = { ...savedProfile, ...unsavedChanges };
  useEffect(() => storeEdits(edits), [edits]);
  const isDirty = Object.keys(unsavedChanges).length > 0;

  const edit = (change: ProfileEdits) => {
    setEdits((current) => ({ ...current, ...change }));
    clearErrors(...(Object.keys(change) as (keyof Profile)[]));
    setSaved(false);
  };
  const discard = () => {
    setEdits({});
    // the page may be unloaded before the effect above runs
    storeEdits({});
    showErrors({});
  };
  const save = async () => {
    if (!isDirty || isSaving || showErrors(problemsOf(unsavedChanges))) return;
    const { error } = await update(unsavedChanges);
    if (error) return showRefusal(error, showErrors);
    // changes made while saving remain edits
    const withoutSaved = (current: ProfileEdits) => unsavedEdits(values, current);
    setEdits(withoutSaved);
    // after the page was left, the effect above no longer runs
    storeEdits(withoutSaved(toProfileEdits(drafts.read(EDITS_DRAFT))));
    setSaved(true);
  };
  return { formRef, values, errors, isDirty, isSaving, isSaved: isSaved && !isDirty, edit, discard, save };
}

type ProfileForm = ReturnType<typeof useProfileForm>;
