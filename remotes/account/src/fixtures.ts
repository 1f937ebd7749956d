import type { CheckInDto, TicketDto, UserDto } from '@liaozhai/shared/contract';
import { dayKey } from '@liaozhai/shared/format';

export const userDto = (patch: Partial<UserDto> = {}): UserDto => ({
  id: 'u-1',
  name: '宁采臣',
  username: 'a20261121',
  avatar: '/api/media/avatars/fox.svg',
  gender: 'male',
  balance: 120,
  invite_code: 'LANRUO',
  persona: '赶考途中的书生。',
  email_verified_at: null,
  checked_in_today: false,
  check_in_streak: 3,
  version: 1,
  ...patch,
});

export const checkInDto = (patch: Partial<CheckInDto> = {}): CheckInDto => ({
  date: dayKey(Date.now()),
  streak: 4,
  awarded: 16,
  already_checked_in: false,
  balance: 136,
  ...patch,
});

export const ticketDto = (patch: Partial<TicketDto> = {}): TicketDto => ({
  id: '20261122000001',
  kind: 'points',
  body: '充值没有到账',
  answer: null,
  answered_at: null,
  is_unread: false,
  created_at: '2026-11-22T04:00:00.000000Z',
  ...patch,
});
