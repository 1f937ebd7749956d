import { useState } from 'react';
import { PasswordField, RadioGroup, Switch, TextArea, TextField } from '..';
import { Specimen } from './Specimen';

const genders = [
  { value: 'male', label: '男' },
  { value: 'female', label: '女' },
] as const;

const sizes = [
  { value: '1', label: '小' },
  { value: '2', label: '标准' },
  { value: '3', label: '大' },
  { value: '4', label: '特大' },
] as const;

export function FieldStates({ theme }: { theme: string }) {
  const [gender, setGender] = useState<'male' | 'female'>('female');
  const [size, setSize] = useState<'1' | '2' | '3' | '4'>('2');
  const [persona, setPersona] = useState('宁采臣，浙江人，性慷爽，廉隅自重。每对人言：“生平无二色。”');
  const [night, setNight] = useState(true);
  return (
    <Specimen title="TextField · PasswordField · TextArea · RadioGroup · Switch">
      <TextField label="昵称" defaultValue="聂小倩" hint="可以随时修改" />
      <TextField label="用户名" defaultValue="a1" error={['用户名已被使用', '至少 3 个字符']} />
      <TextField label="邀请码" disabled defaultValue="LZ8K2M" />
      <PasswordField label="密码" defaultValue="384756" autoComplete="off" />
      <TextArea label="人设" value={persona} onChange={(event) => setPersona(event.target.value)} maxCodePoints={40} />
      <TextArea label="人设（超出）" value={persona} readOnly maxCodePoints={20} error="超出字数了" />
      <RadioGroup legend="性别" name={`${theme}-gender`} options={genders} value={gender} onChange={setGender} />
      <RadioGroup legend="字号" name={`${theme}-size`} options={sizes} value={size} onChange={setSize} />
      <Switch label="夜间使用深色" checked={night} onChange={setNight} />
      <Switch label="不可用" checked={false} disabled onChange={setNight} />
    </Specimen>
  );
}
