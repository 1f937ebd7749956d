import { RadioGroup, TextField } from '@liaozhai/shared/ui';
import type { Gender } from '../model';
import { texts } from '../texts';
import { AvatarPicker } from './AvatarPicker';
import { PersonaEditor } from './PersonaEditor';
import type { ProfileForm } from './useProfileForm';

const genders = [
  { value: 'male', label: texts.profile.genders.male },
  { value: 'female', label: texts.profile.genders.female },
] as const;

interface ProfileFieldsProps {
  form: ProfileForm;
  avatars: readonly string[];
}

/** Everything one may say about oneself. */
export function ProfileFields({ form, avatars }: ProfileFieldsProps) {
  const { values, errors, edit } = form;
  return (
    <>
      <AvatarPicker
        choices={avatars}
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
        options={genders}
        value={values.gender}
        onChange={(gender) => edit({ gender })}
      />
      <PersonaEditor
        value={values.persona}
        error={errors.persona}
        bearer={values}
        onChange={(persona) => edit({ persona })}
      />
    </>
  );
}
