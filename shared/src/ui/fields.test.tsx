import { expect, rs, test } from '@rstest/core';
import { act, fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { RadioGroup, Switch } from './RadioGroup';
import { SearchField } from './SearchField';
import { PasswordField, TextArea, TextField } from './TextField';

const describedBy = (input: HTMLElement) =>
  document.getElementById(input.getAttribute('aria-describedby') ?? '')?.textContent;

test('a field is found by its label and described by its hint', () => {
  render(<TextField label="昵称" name="name" hint="可以随时修改" />);
  const input = screen.getByLabelText('昵称');
  expect(input.getAttribute('name')).toBe('name');
  expect(describedBy(input)).toBe('可以随时修改');
  expect(input.getAttribute('aria-invalid')).toBeNull();
});

test('server errors replace the hint, mark the field and are announced', () => {
  render(<TextField label="用户名" hint="字母和数字" error={['用户名已被使用', '至少 3 个字符']} />);
  const input = screen.getByLabelText('用户名');
  expect(describedBy(input)).toBe('用户名已被使用；至少 3 个字符');
  expect(input.getAttribute('aria-invalid')).toBe('true');
  expect(screen.getByRole('alert').textContent).toContain('用户名已被使用');
});

test('an empty list of errors is no error', () => {
  render(<TextField label="用户名" error={[]} />);
  expect(screen.getByLabelText('用户名').getAttribute('aria-invalid')).toBeNull();
});

test('the password can be shown and hidden, and keeps its text', async () => {
  render(<PasswordField label="密码" name="password" autoComplete="new-password" />);
  const input = screen.getByLabelText<HTMLInputElement>('密码');
  await userEvent.type(input, '384756');
  expect(input.type).toBe('password');
  await userEvent.click(screen.getByRole('button', { name: '显示密码' }));
  expect(input.type).toBe('text');
  await userEvent.click(screen.getByRole('button', { name: '隐藏密码' }));
  expect([input.type, input.value]).toEqual(['password', '384756']);
});

test('the owner can make the password readable', async () => {
  const asked: boolean[] = [];
  render(<PasswordField label="密码" visible onVisibleChange={(visible) => asked.push(visible)} />);
  expect(screen.getByLabelText<HTMLInputElement>('密码').type).toBe('text');
  await userEvent.click(screen.getByRole('button', { name: '隐藏密码' }));
  expect(asked).toEqual([false]);
});

function Persona() {
  const [text, setText] = useState('');
  return <TextArea label="人设" value={text} onChange={(event) => setText(event.target.value)} maxCodePoints={3} />;
}

test('the counter counts characters, and an excess shows but is not prevented', async () => {
  render(<Persona />);
  await userEvent.type(screen.getByLabelText('人设'), '狐🏮');
  expect(screen.getByText('2/3')).toBeTruthy();
  await userEvent.type(screen.getByLabelText('人设'), '仙也');
  expect(screen.getByText('4/3')).toBeTruthy();
});

function Gender() {
  const [gender, setGender] = useState<'male' | 'female'>('male');
  const options = [
    { value: 'male', label: '男' },
    { value: 'female', label: '女' },
  ] as const;
  return <RadioGroup legend="性别" name="gender" options={options} value={gender} onChange={setGender} />;
}

test('one of the radios is chosen, as a named group', async () => {
  render(<Gender />);
  expect(screen.getByRole('group', { name: '性别' })).toBeTruthy();
  await userEvent.click(screen.getByRole('radio', { name: '女' }));
  expect(screen.getByRole<HTMLInputElement>('radio', { name: '女' }).checked).toBe(true);
  expect(screen.getByRole<HTMLInputElement>('radio', { name: '男' }).checked).toBe(false);
});

test('a switch reports the requested state', async () => {
  const asked: boolean[] = [];
  render(<Switch label="夜间使用深色" checked={false} onChange={(checked) => asked.push(checked)} />);
  await userEvent.click(screen.getByRole('switch', { name: '夜间使用深色' }));
  expect(asked).toEqual([true]);
});

test('a search field reports its text after a pause in typing, and not during composition', () => {
  rs.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const told: string[] = [];
    render(<SearchField label="搜索" onSearch={(words) => told.push(words)} />);
    const field = screen.getByRole('searchbox', { name: '搜索' });
    const type = (value: string) => fireEvent.change(field, { target: { value } });
    const pass = (ms: number) => act(() => rs.advanceTimersByTime(ms));
    type('h');
    pass(200);
    type('hu');
    pass(200);
    expect(told).toEqual([]);
    pass(200);
    expect(told).toEqual(['hu']);
    fireEvent.compositionStart(field);
    type('hua');
    fireEvent.submit(field);
    pass(5000);
    expect(told).toEqual(['hu']);
    type('画');
    fireEvent.compositionEnd(field);
    pass(400);
    expect(told).toEqual(['hu', '画']);
    fireEvent.click(screen.getByRole('button', { name: '清除' }));
    pass(1);
    expect(told).toEqual(['hu', '画', '']);
  } finally {
    rs.useRealTimers();
  }
});
