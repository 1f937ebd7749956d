import { expect, test } from '@rstest/core';
import { fieldErrors } from './fieldErrors';
import { readersWords } from './refusals';
import { statedFailure } from './statedFailure';

test.each([
  'Server Error',
  'Service Unavailable',
  'Too Many Attempts.',
  'CSRF token mismatch.',
  'This action is unauthorized.',
  'Unauthenticated.',
  'SQLSTATE[42S02]: Base table or view not found: 1146 表不存在',
  'App\\Exceptions\\Handler 出错',
  '<b>出错了</b>',
  '无法连接 10.0.3.17',
  '调用 charge() 失败',
  'TypeError：值为空',
  '文件 /var/www/app 不存在',
  '在 handler.py 第 12 行出错',
  '参数错误: login',
  'user_id 无效',
  '请填写:attribute',
  ':attribute 不能为空。',
  'password 不能小于 8 个字符。',
  '字段 display_name 已存在',
  '残高が不足しています',
  '잔액 不足',
  '长'.repeat(200),
  '',
  { message: '出错' },
  null,
])('a reader never sees %j', (message) => {
  expect(readersWords(message)).toBeUndefined();
});

test.each([
  '余额不足，请先充值',
  '服务正在重新启动，请稍候再试',
  '请用 Chrome 浏览器打开',
  '每 1.5 秒一次（最多 3 次）',
  '每日/每周各一次',
  '2026/11/25 起可用',
  '请升级到 3.1.2',
  'VIP(会员)专用',
  '请下载 app 后再试',
  '头像须为 jpg 或 png，不超过 2 MB',
  '登录遇到问题，请发邮件到 help@liaozhai.cn',
  '请用 iPhone 自带的浏览器或 WeChat 打开',
])('a reader sees %j', (message) => {
  expect(readersWords(message)).toBe(message);
});

test.each([
  [
    { login: ['已被占用'], name: '太长' },
    { login: ['已被占用'], name: ['太长'] },
  ],
  [{ 'user.login': ['已被占用'] }, { login: ['已被占用'] }],
  [{ 'items.0.name': ['太长'] }, { name: ['太长'] }],
  [{ login: { '0': '太短' } }, { login: ['太短'] }],
  [{ login: { rule: { min: '太短' } } }, { login: ['太短'] }],
  [{ 'user[login]': ['已被占用'] }, { login: ['已被占用'] }],
  [[{ field: 'data.login', message: '太短' }], { login: ['太短'] }],
  [[{ loc: ['body', 'login'], msg: 'field required', type: 'missing' }], { login: ['请填写'] }],
  [[{ path: ['user', 'login'], message: '太短', code: 'too_small' }], { login: ['太短'] }],
  [[{ source: { pointer: '/data/attributes/login' }, detail: '太短' }], { login: ['太短'] }],
  [{ login: { param: 'login', location: 'body', msg: '太短' } }, { login: ['太短'] }],
  [[{ propertyPath: 'login', title: '太短' }], { login: ['太短'] }],
  [['太短'], { '': ['太短'] }],
  ['太短', { '': ['太短'] }],
  [{ login: ['The login has already been taken.'] }, { login: ['已被占用'] }],
  [{ password: ['validation.required'] }, { password: ['请填写'] }],
  [{ password: ['The password must be at least 6 characters.'] }, { password: ['至少 6 个字'] }],
  [{ login: ['The login format is invalid.'] }, { login: ['填写有误'] }],
  [{ login: ['These credentials do not match our records.'] }, { login: ['用户名或密码不正确'] }],
  [{ login: ['auth.failed'] }, { login: ['用户名或密码不正确'] }],
  [{ login: ['Too many login attempts. Please try again in 53 seconds.'] }, { login: ['试得太频繁，请 53 秒后再试'] }],
  [{ password: ['The provided password does not match your current password.'] }, { password: ['密码不正确'] }],
  [{ password: ['The password field confirmation does not match.'] }, { password: ['两次输入的不一样'] }],
  [{ login: ["can't be blank", 'is too short (minimum is 4 characters)'] }, { login: ['请填写', '至少 4 个字'] }],
  [{ login: ['A user with that username already exists.'] }, { login: ['已被占用'] }],
  [[{ path: 'name', message: 'String should have at most 20 characters' }], { name: ['最多 20 个字'] }],
  [
    [
      {
        property: 'name',
        constraints: {
          isNotEmpty: 'name should not be empty',
          maxLength: 'must be shorter than or equal to 20 characters',
        },
      },
      { property: 'email', constraints: { isEmail: 'email must be an email' } },
      { property: 'password', constraints: { minLength: 'must be longer than or equal to 6 characters' } },
    ],
    { name: ['请填写', '最多 20 个字'], email: ['邮箱格式不正确'], password: ['至少 6 个字'] },
  ],
  [{ login: [null, 7, {}] }, {}],
  [
    JSON.parse('{"__proto__":["太短"],"constructor":["太长"]}'),
    JSON.parse('{"__proto__":["太短"],"constructor":["太长"]}'),
  ],
  [
    { Login: ['太短'], DisplayName: ['太长'] },
    { login: ['太短'], display_name: ['太长'] },
  ],
  [
    { formErrors: ['太旧'], fieldErrors: { login: ['太短'] } },
    { '': ['太旧'], login: ['太短'] },
  ],
  [
    { _errors: ['太旧'], login: { _errors: ['太短'] } },
    { '': ['太旧'], login: ['太短'] },
  ],
  [{ errors: [], properties: { login: { errors: ['太短'] } } }, { login: ['太短'] }],
  [{ children: { login: { errors: ['太短'] }, name: [] } }, { login: ['太短'] }],
  [{ non_field_errors: ['太旧'], base: ['太早'] }, { '': ['太旧', '太早'] }],
  [[{ field: 'login', defaultMessage: '太短', code: 'Size' }], { login: ['太短'] }],
  [[{ property: 'login', constraints: { minLength: '太短', matches: '太怪' } }], { login: ['太短', '太怪'] }],
  [[{ path: 'login', errors: ['太短'] }], { login: ['太短'] }],
  [null, {}],
])('the errors of %j are assigned to their fields', (errors, fields) => {
  expect(fieldErrors(errors)).toEqual(fields);
});

test.each([
  [{ code: 500, message: '服务器开小差了' }, 500],
  [{ code: '500', msg: '服务器开小差了', data: [] }, 500],
  [{ code: 401, message: '请登录', data: null }, 401],
  [{ code: 40400, message: '没有', data: {} }, 404],
  [{ code: 10001, message: '系统繁忙', data: null }, 500],
  [{ code: -1, msg: '系统繁忙' }, 500],
  [{ code: 'INTERNAL_ERROR', message: '' }, 500],
  [{ success: false }, 500],
  [{ success: 'false', data: [] }, 500],
  [{ success: 0, message: '失败' }, 500],
  [{ success: false, message: '有误', errors: { login: ['已被占用'] } }, 422],
  [{ ok: false, error: 'internal' }, 500],
  [{ status: 'error' }, 500],
  [{ status: 'fail', data: { title: '请填写' } }, 500],
  [{ status: false, message: '失败' }, 500],
  [{ status: 503, title: 'Service Unavailable', detail: '' }, 503],
  [{ error: 'Server Error' }, 500],
  [{ error: { message: 'boom' }, data: null }, 500],
  [{ errors: [{ message: 'boom' }] }, 422],
  [{ errcode: 40001, errmsg: 'invalid credential' }, 400],
  [{ message: 'Server Error', exception: 'ErrorException', trace: [] }, 500],
  [{ message: '操作失败' }, 500],
  ['密码错误', 500],
  ['fail', 500],
  [false, 500],
  [-1, 500],
])('%j is a failure with status %i', (body, status) => {
  expect(statedFailure(body)).toBe(status);
});

test.each([
  {},
  null,
  '',
  '操作成功',
  true,
  0,
  7,
  [],
  { data: [] },
  { data: null },
  { message: '已发送' },
  { status: '已发送重置邮件' },
  { code: 0, message: 'ok', data: { email: 'a@b.c' } },
  { code: 200, message: 'success', data: [] },
  { code: 20000 },
  { code: 1, msg: '成功' },
  { code: 'ok' },
  { success: true, error: null, errors: [] },
  { ok: 1, error: false },
  { error: '', errcode: 0 },
  { data: [{ id: 1 }], errors: [{ message: 'one row is missing' }] },
  { id: 'm', status: 'failed', error: { code: 'timeout', message: '' } },
  { name: '宁采臣', code: '48392' },
  { code: '48392', invited: 3 },
  { code: 'ERROR7', url: '/i/ERROR7' },
  { message: { id: 'm', status: 'failed' } },
])('%j is no failure', (body) => {
  expect(statedFailure(body)).toBeUndefined();
});
